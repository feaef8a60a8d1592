# SPDX-License-Identifier: BSD-2-Clause
"""Set-up of this machine, and the cache of everything that is built."""
