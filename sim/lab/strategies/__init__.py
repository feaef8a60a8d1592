# SPDX-License-Identifier: BSD-2-Clause
"""All strategies compared: which setting takes the least CPU time at an acceptable latency?"""
