# SPDX-License-Identifier: BSD-2-Clause
"""A clock, and time stamps of frames."""
