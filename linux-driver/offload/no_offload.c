// SPDX-License-Identifier: GPL-2.0-only
/* Replaces moderato_offload.c if the kernel has no flow table */

#include "moderato_features.h"
#include "moderato_priv.h"

const struct moderato_feature moderato_offload_feature = {};
