// SPDX-License-Identifier: GPL-2.0-only
/* Replaces moderato_xsk.c if the kernel has no AF_XDP */

#include "moderato_features.h"
#include "moderato_priv.h"

const struct moderato_feature moderato_xsk_feature = {};
