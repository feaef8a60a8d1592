# SPDX-License-Identifier: BSD-2-Clause
"""The settings to compare: strategies, most of them with several values."""

import functools
from collections.abc import Mapping
from dataclasses import dataclass

from moderato.soc.linux.kernel import NORMAL, TICKS, Choice

from ..run.variants import INTERFACES, KNOWN

NAPI = "rx-frames 1 rx-usecs 0"  # an interrupt for the first frame
MOST = 128  # frames: half of a ring, the driver's limit for waiting frames


@dataclass(frozen=True)
class Setting:
    """A variant, and additional commands for the guest, for each `{interface}`."""

    variant: str
    value: str = ""  # a short label of the setting's value
    more: tuple[str, ...] = ()
    hz: int = NORMAL.hz

    @property
    def name(self) -> str:
        return f"{self.variant} {self.value}".strip()

    @property
    def kernel(self) -> Choice:
        return Choice(NORMAL.name, self.hz)

    def commands(self) -> list[str]:
        """The guest's commands that apply the setting to both interfaces."""
        return [
            *KNOWN[self.variant].commands(),
            *(command.format(interface=interface) for interface in INTERFACES for command in self.more),
        ]


def _coalesce(words: str) -> tuple[str]:
    return (f"ethtool -C {{interface}} {words}",)


def _absolute(usecs: int) -> tuple[str]:
    return _coalesce(
        f"rx-frames {MOST} rx-usecs {usecs} rx-usecs-low 0 tx-frames {MOST} tx-usecs {usecs}"
    )


def _sysfs(**values: int) -> tuple[str, ...]:
    return tuple(f"echo {value} > /sys/class/net/{{interface}}/{name}" for name, value in values.items())


# The DS field is expedited forwarding (RFC 3246).
_URGENT = ("ethtool -N {interface} flow-type ip4 tos 184",)
# Sockets that are opened from now on poll for this long, in us, before the process sleeps.
_BUSY = ("echo 1000 > /proc/sys/net/core/busy_read",)
# The kernel's profiles (lib/dim/net_dim.c), whose periods begin with an event.
_STOCK = (
    "coalesce {interface} rx profile 1,256 8,256 64,256 128,256 256,256",
    "coalesce {interface} tx profile 1,128 8,128 32,128 64,128 128,128",
)


def _time(usecs: int) -> str:
    return f"{usecs // 1000} ms" if usecs % 1000 == 0 else f"{usecs} us"


def _all():
    yield from (Setting(name) for name in ("original", "napi", "napi-tx-off", "napi-full"))
    yield from (Setting("napi-timer", f"{hz} Hz", hz=hz) for hz in TICKS)
    for usecs in (250, 1000, 4000):
        yield Setting("napi-timer", _time(usecs), _coalesce(f"rx-usecs-irq {usecs}"))
    for usecs in (50, 100, 250, 500, 1000, 4000, 10_000):
        yield Setting("hw-moderated", _time(usecs), _absolute(usecs))
    yield Setting("hw-moderated", "10 ms, urgent", (*_absolute(10_000), *_URGENT))
    yield Setting("hw-moderated", "10 ms, busy polling", (*_absolute(10_000), *_BUSY))
    # The gap: the first frame after a pause is reported at once.
    for usecs in (100, 500, 4000):
        yield Setting(
            "hw-moderated",
            f"gap {_time(usecs)}",
            _coalesce(f"{NAPI} rx-usecs-low 0 rx-usecs-high {usecs} tx-frames {MOST} tx-usecs {usecs}"),
        )
    # The kernel's own moderation: its timer polls again after this time, before it enables interrupts.
    for usecs in (50, 250, 1000):
        yield Setting(
            "napi-full",
            f"deferred {_time(usecs)}",
            _sysfs(napi_defer_hard_irqs=2, gro_flush_timeout=1000 * usecs),
        )
    yield Setting("napi-full", "threaded", _sysfs(threaded=1))
    yield Setting("napi-full", "busy polling", _BUSY)
    yield Setting("adaptive-dim")
    yield Setting("adaptive-dim", "stock", _STOCK)
    yield Setting("adaptive-hw", "250 us")  # the variant's own value
    for usecs in (100, 1000):
        yield Setting("adaptive-hw", _time(usecs), _coalesce(f"rx-usecs-high {usecs}"))


SETTINGS: Mapping[str, Setting] = {setting.name: setting for setting in _all()}
REFERENCE = SETTINGS["napi-full"]  # the reference for shares of the throughput
VARIANTS = list(dict.fromkeys(setting.variant for setting in SETTINGS.values()))


@functools.cache
def of(variants: tuple[str, ...]) -> list[Setting]:
    return [setting for setting in SETTINGS.values() if setting.variant in variants]
