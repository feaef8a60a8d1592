# SPDX-License-Identifier: BSD-2-Clause
"""Capture files: read, written, rewritten for the bench, compared with what a router sends."""
