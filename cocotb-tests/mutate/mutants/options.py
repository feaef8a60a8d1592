# SPDX-License-Identifier: BSD-2-Clause
TESTS = ["sim-tags", "sim-checksums", "sim-merging", "test_mac_plain", "sim-all", "flows-pressure",
         "test_flows_jumbo"]

MUTANTS = [
    ("FEATURES.MERGE is not reported",
     'needs=("rx_checksum",), tells=("FEATURES.MERGE",)',
     'needs=("rx_checksum",)',
     "the driver merges nothing"),
    ("FEATURES.VLAN is not reported",
     'tells=("FEATURES.VLAN", "FEATURES.VLAN_FILTER")',
     'tells=("FEATURES.VLAN_FILTER",)',
     "no driver uses VLAN tags"),
    ("FEATURES.RX_CHECKSUM is not reported",
     'tells=("FEATURES.RX_CHECKSUM",)',
     "tells=()",
     "the driver still sums in software"),
    ("the flow FIFO reserves room for one frame",
     "return 2*longest + PAUSE_OCTETS", "return longest",
     "frames of flows are lost although the sender obeys pauses"),
    ("the flow FIFO reserves no room for jumbo frames",
     "9022 if self.jumbo else", "",
     "long frames of flows are lost although the sender obeys pauses"),
    ("FEATURES reports options that were not built",
     "int(getattr(self, known.name)) - known.without",
     "(known.most if known.is_switch else int(getattr(self, known.name))) - known.without",
     "frames leave without their checksums"),
]
