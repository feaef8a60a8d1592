# SPDX-License-Identifier: BSD-2-Clause
"""The user interface: options' values, files, progress, tables, errors."""
