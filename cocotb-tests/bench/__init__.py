# SPDX-License-Identifier: BSD-2-Clause
"""What the tests share: devices under test, how they are simulated, and models of what is around them."""
