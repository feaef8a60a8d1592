# SPDX-License-Identifier: BSD-2-Clause
"""Reference models of devices, and the model of the driver."""
