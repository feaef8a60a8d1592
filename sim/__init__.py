# SPDX-License-Identifier: BSD-2-Clause
"""Simulation of the SoC: the C++ harness and the lab that drives it."""
