// SPDX-License-Identifier: GPL-2.0-only
/* In the place of moderato_xdp.c where the kernel has no bpf(), or is older than
 * what that needs
 */

#include "moderato_features.h"
#include "moderato_priv.h"

const struct moderato_feature moderato_xdp_feature = {};
