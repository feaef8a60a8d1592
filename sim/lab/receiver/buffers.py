# SPDX-License-Identifier: BSD-2-Clause
"""Sizes of the user's buffer that Song et al. (2010) have, 64 octets to 4 MiB."""

BUFFERS = (64, 1024, 4096, 16384, 65536, 262144, 1048576, 2097152, 4194304)
