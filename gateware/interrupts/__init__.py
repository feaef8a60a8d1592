# SPDX-License-Identifier: BSD-2-Clause
"""Interrupt moderation: when completions raise an interrupt."""
