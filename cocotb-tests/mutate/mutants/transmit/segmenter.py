# SPDX-License-Identifier: BSD-2-Clause
TESTS = ["pieces-segments", "gated-options"]

MUTANTS = [
    ("the identification does not advance", "NextValue(identification, identification + 1)",
     "NextValue(identification, identification)", "segments look like fragments of one packet"),
    ("the sequence number does not advance", "sequence + self.size", "sequence",
     "segments are mistaken for repetitions"),
    ("CWR is set in every segment", "If(~first, flags[CWR].eq(0))", "If(0, flags[CWR].eq(0))",
     "a receiver sees several congestion responses"),
    ("FIN is set in every segment", "flags[FIN].eq(0), flags[PSH].eq(0)", "flags[PSH].eq(0)",
     "a connection ends before its data"),
    ("PSH is set in every segment", "flags[FIN].eq(0), flags[PSH].eq(0)", "flags[FIN].eq(0)",
     "receivers are woken for each segment"),
    ("IPv6's length includes its header", "Mux(ipv6, IPV6_OCTETS, 0)", "0",
     "packets claim 40 octets too many"),
    ("IPv4's old length is in the checksum",
     "is_(\"ipv4_length\") | is_(\"id\") | is_(\"ipv4_checksum\"))),",
     "is_(\"id\") | is_(\"ipv4_checksum\"))),", "IPv4's checksum is wrong"),
    ("the pseudo-header lacks its length", "total.word.eq(tcp_length)", "total.word.eq(0)",
     "TCP's checksum is wrong"),
    ("`clear` does not abort the packet",
     "fsm.act(state, If(self.clear, NextState(\"IDLE\")))", "pass",
     "the next packet's headers are never read"),
]
