# SPDX-License-Identifier: BSD-2-Clause
"""Which frame leaves when: launch times of frames, for which a scheduler chooses between the Tx queues."""
