# SPDX-License-Identifier: BSD-2-Clause
"""A clock, and the stamps that it puts on frames."""
