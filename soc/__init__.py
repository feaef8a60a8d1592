# SPDX-License-Identifier: BSD-2-Clause
"""The system on chip around the MACs: CPU, firmware, Linux, and the tools that build them."""
