// SPDX-License-Identifier: BSD-2-Clause
// What the driver's header of registers takes from the kernel's.
#pragma once

#define BIT(n) (1u << (n))
#define GENMASK(high, low) (((2ull << (high)) - 1u) & ~((1ull << (low)) - 1u))
