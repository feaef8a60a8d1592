# SPDX-License-Identifier: BSD-2-Clause
"""One file per FPGA board."""
