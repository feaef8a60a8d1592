# SPDX-License-Identifier: BSD-2-Clause
"""What explains a figure: whose cycles they were, and when."""
