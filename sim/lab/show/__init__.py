# SPDX-License-Identifier: BSD-2-Clause
"""What talks to people: options' values, files, progress, tables, errors."""
