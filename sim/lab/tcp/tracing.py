# SPDX-License-Identifier: BSD-2-Clause
"""The kernel's own tracing, switched on in the guest: what `--kernel traced` is for.

Song et al.'s time segments begin and end at certain functions. Each entry into one of them puts an event
with its time into the kernel's ring buffer, which overwrites itself, as with ftrace on real systems.
"""

from . import segments

KERNEL = "traced"
FOLDER = "/sys/kernel/tracing"
DRIVER = [
    f"moderato_{name} [moderato]"  # as the kernel lists a module's
    for name in ("rx_interrupt", "tx_interrupt", "start_xmit", "napi_poll")
]


def commands(kernel: str) -> list[str]:
    """Shell commands that begin tracing, if that is what the kernel is for."""
    if kernel != KERNEL:
        return []
    names = " ".join(f"-e '{name}'" for name in [*DRIVER, *sorted(segments.TRANSMIT | segments.RECEIVE)])
    return [
        f"mount -t tracefs tracefs {FOLDER}",
        # By their numbers: for each name the kernel would look up those of all its functions.
        f"grep -nxF {names} {FOLDER}/available_filter_functions | cut -d: -f1 "
        f"> {FOLDER}/set_ftrace_filter",
        f"echo function > {FOLDER}/current_tracer",
    ]
