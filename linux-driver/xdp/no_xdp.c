// SPDX-License-Identifier: GPL-2.0-only
/* Replaces moderato_xdp.c if the kernel has no bpf(), or is too old */

#include "moderato_features.h"
#include "moderato_priv.h"

const struct moderato_feature moderato_xdp_feature = {};
