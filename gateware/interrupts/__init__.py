# SPDX-License-Identifier: BSD-2-Clause
"""When completions become an interrupt."""
