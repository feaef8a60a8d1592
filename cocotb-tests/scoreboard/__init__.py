# SPDX-License-Identifier: BSD-2-Clause
"""Random frames against a scoreboard, at the speed of Verilator."""
