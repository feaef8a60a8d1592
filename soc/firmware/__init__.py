# SPDX-License-Identifier: BSD-2-Clause
"""Boot ROM and supervisor binary interface (SBI)."""
