# SPDX-License-Identifier: BSD-2-Clause
"""The simulated box on the host's network, recorded and played again."""
