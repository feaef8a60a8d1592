# SPDX-License-Identifier: BSD-2-Clause
"""Capture files: reading, writing, rewriting for the bench, and comparing with a router's output."""
