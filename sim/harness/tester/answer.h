// SPDX-License-Identifier: BSD-2-Clause
// Answers of the tester's stations.
#pragma once

#include <optional>

#include "frame.h"

// The answer to a frame that left `port`: to an ARP request (RFC 826) for the tester's address there, a ping (RFC 792) or,
// with `udp_echo`, a datagram to port 7 (RFC 862) of that address.
std::optional<Octets> answer(const Octets& frame, unsigned port, bool udp_echo);
