# SPDX-License-Identifier: BSD-2-Clause
"""moderato-sim, the program around the verilated SoC (C++), and how it is built (build.py)."""
