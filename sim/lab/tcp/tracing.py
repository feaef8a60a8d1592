# SPDX-License-Identifier: BSD-2-Clause
"""Switches on the kernel's own tracing in the guest, for `--kernel traced`.

Song et al.'s time segments begin and end at certain functions. Each entry into one of them writes an
event with its time into the kernel's ring buffer, which overwrites old events, as with ftrace on real
systems.
"""

from . import segments

KERNEL = "traced"
FOLDER = "/sys/kernel/tracing"
DRIVER = [
    f"moderato_{name} [moderato]"  # the kernel's name of a module's function
    for name in ("rx_interrupt", "tx_interrupt", "start_xmit", "napi_poll")
]


def commands(kernel: str) -> list[str]:
    """Shell commands that start tracing, if the kernel is the traced one."""
    if kernel != KERNEL:
        return []
    names = " ".join(f"-e '{name}'" for name in [*DRIVER, *sorted(segments.TRANSMIT | segments.RECEIVE)])
    return [
        f"mount -t tracefs tracefs {FOLDER}",
        # By number: for names, the kernel would search all of its functions each time.
        f"grep -nxF {names} {FOLDER}/available_filter_functions | cut -d: -f1 "
        f"> {FOLDER}/set_ftrace_filter",
        f"echo function > {FOLDER}/current_tracer",
    ]
