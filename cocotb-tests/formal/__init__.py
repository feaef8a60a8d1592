# SPDX-License-Identifier: BSD-2-Clause
"""Proofs of what tests can only sample."""
