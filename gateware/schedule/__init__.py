# SPDX-License-Identifier: BSD-2-Clause
"""Transmit scheduling: a scheduler chooses between the Tx queues, and holds frames until their launch times."""
