# SPDX-License-Identifier: BSD-2-Clause
"""Linux for the SoC: kernel, root filesystem, driver module, device tree."""
