# SPDX-License-Identifier: BSD-2-Clause
TESTS = ["sim-tags", "sim-checksums", "sim-merging", "test_mac_plain", "sim-all", "flows-pressure",
         "test_flows_jumbo"]

MUTANTS = [
    ("does not say that it marks segments",
     'needs=("rx_checksum",), tells=("FEATURES.MERGE",)',
     'needs=("rx_checksum",)',
     "the driver merges nothing"),
    ("FEATURES does not tell of VLANs",
     'tells=("FEATURES.VLAN", "FEATURES.VLAN_FILTER")',
     'tells=("FEATURES.VLAN_FILTER",)',
     "no driver uses them"),
    ("FEATURES does not tell of sums",
     'tells=("FEATURES.RX_CHECKSUM",)',
     "tells=()",
     "a driver goes on summing"),
    ("room for one frame",
     "return 2*longest + PAUSE_OCTETS", "return longest",
     "frames of flows are lost although the sender obeys"),
    ("no room for jumbo frames",
     "9022 if self.jumbo else", "",
     "long frames of flows are lost although the sender obeys"),
    ("FEATURES tells of what is not there",
     "int(getattr(self, known.name)) - known.without",
     "(known.most if known.is_switch else int(getattr(self, known.name))) - known.without",
     "frames leave without their checksums"),
]
