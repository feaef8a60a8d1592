# SPDX-License-Identifier: BSD-2-Clause
"""What runs a machine: its parts, its states, one simulation or many."""
