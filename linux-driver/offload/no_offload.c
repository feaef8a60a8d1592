// SPDX-License-Identifier: GPL-2.0-only
/* In the place of moderato_offload.c where the kernel has no flow table */

#include "moderato_features.h"
#include "moderato_priv.h"

const struct moderato_feature moderato_offload_feature = {};
