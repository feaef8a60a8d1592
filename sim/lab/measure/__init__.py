# SPDX-License-Identifier: BSD-2-Clause
"""What is measured: trials, replays, the speed of the simulation."""
