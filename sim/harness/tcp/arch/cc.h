/* SPDX-License-Identifier: BSD-2-Clause */
/* What lwIP asks of a compiler and its machine: clang on a little-endian host has it all, but for where to complain. */
#pragma once

#include <stdio.h>
#include <stdlib.h>

#define LWIP_PLATFORM_DIAG(x)
#define LWIP_PLATFORM_ASSERT(what) (fprintf(stderr, "moderato-sim: lwIP: %s\n", what), abort())
