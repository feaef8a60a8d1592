# SPDX-License-Identifier: BSD-2-Clause
"""What a device is compared with, and the model of its driver."""
