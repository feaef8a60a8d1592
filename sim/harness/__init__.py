# SPDX-License-Identifier: BSD-2-Clause
"""moderato-sim, the C++ program around the verilated SoC, and its build (build.py)."""
