/* SPDX-License-Identifier: BSD-2-Clause */
/* lwIP's requirements of compiler and machine: clang on a little-endian host has all of it, except for the log. */
#pragma once

#include <stdio.h>
#include <stdlib.h>

#define LWIP_PLATFORM_DIAG(x)
#define LWIP_PLATFORM_ASSERT(what) (fprintf(stderr, "moderato-sim: lwIP: %s\n", what), abort())
