# SPDX-License-Identifier: BSD-2-Clause
"""The MAC in anyone's LiteX SoC. Start at add_moderato.py; docs/integrate.md tells how to use it."""
