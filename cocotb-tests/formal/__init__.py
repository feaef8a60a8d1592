# SPDX-License-Identifier: BSD-2-Clause
"""Proofs of properties that tests can only sample."""
