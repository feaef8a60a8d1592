# SPDX-License-Identifier: BSD-2-Clause
"""The tester's TCP: lwIP (lwip.py), and its users (C++)."""
