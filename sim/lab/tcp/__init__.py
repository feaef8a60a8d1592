# SPDX-License-Identifier: BSD-2-Clause
"""TCP: into the guest, out of it, and through it; what it reaches, and what a segment costs."""
