# SPDX-License-Identifier: BSD-2-Clause
"""What the tests share: devices, how they are simulated, and models of what is around them."""
