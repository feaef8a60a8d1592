# SPDX-License-Identifier: BSD-2-Clause
"""From the Tx ring to the wire: assemble, segment, align, append the FCS."""
