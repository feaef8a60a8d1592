# SPDX-License-Identifier: BSD-2-Clause
"""The lab: trials, sweeps, reports, and the command line."""
