# SPDX-License-Identifier: BSD-2-Clause
"""The Moderato MAC: Migen gateware, one stage per file. Start at mac.py."""
