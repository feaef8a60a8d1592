# SPDX-License-Identifier: BSD-2-Clause
"""From the Tx ring to the wire: put together, cut, align, append the FCS."""
