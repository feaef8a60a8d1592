# SPDX-License-Identifier: BSD-2-Clause
"""Mutation testing: each change of the gateware in mutants/ must make a test fail."""
