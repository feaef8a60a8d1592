# SPDX-License-Identifier: BSD-2-Clause
TESTS = ["pieces-segments", "gated-options"]

MUTANTS = [
    ("an identification for all", "NextValue(identification, identification + 1)",
     "NextValue(identification, identification)", "segments look like fragments of one packet"),
    ("a sequence number for all", "sequence + self.size", "sequence",
     "a receiver takes segments for the same"),
    ("CWR in each", "If(~first, flags[CWR].eq(0))", "If(0, flags[CWR].eq(0))",
     "congestion is told to be over several times"),
    ("FIN in each", "flags[FIN].eq(0), flags[PSH].eq(0)", "flags[PSH].eq(0)",
     "a connection ends before its data"),
    ("PSH in each", "flags[FIN].eq(0), flags[PSH].eq(0)", "flags[FIN].eq(0)",
     "receivers are woken for each segment"),
    ("IPv6's length like IPv4's", "Mux(ipv6, IPV6_OCTETS, 0)", "0",
     "packets claim 40 octets more"),
    ("the old length counts",
     "is_(\"ipv4_length\") | is_(\"id\") | is_(\"ipv4_checksum\"))),",
     "is_(\"id\") | is_(\"ipv4_checksum\"))),", "IPv4's checksum is wrong"),
    ("no length in the pseudo-header", "total.word.eq(tcp_length)", "total.word.eq(0)",
     "TCP's checksum is wrong"),
    ("a packet that was given up goes on",
     "fsm.act(state, If(self.clear, NextState(\"IDLE\")))", "pass",
     "the next packet's headers are never read"),
]
