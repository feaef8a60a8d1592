# SPDX-License-Identifier: BSD-2-Clause
"""What is simulated: devices under test, SoCs around them, boards."""
