# SPDX-License-Identifier: BSD-2-Clause
"""Shared by the tests: devices, their simulation, and models of what surrounds them."""
