# SPDX-License-Identifier: BSD-2-Clause
"""Mutation testing: every single change of the gateware in mutants/ must make a test fail."""
