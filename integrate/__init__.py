# SPDX-License-Identifier: BSD-2-Clause
"""The MAC in any LiteX SoC. Start at add_moderato.py; docs/integrate.md explains its use."""
