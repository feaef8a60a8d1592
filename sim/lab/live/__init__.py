# SPDX-License-Identifier: BSD-2-Clause
"""Live sessions: the simulated box on the host's network, recorded and replayed."""
