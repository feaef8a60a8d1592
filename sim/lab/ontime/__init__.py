# SPDX-License-Identifier: BSD-2-Clause
"""Frames with a launch time: when do they leave, with and without a NIC that knows it?"""
