# SPDX-License-Identifier: BSD-2-Clause
"""What a wave can wait for: a kind and words that a moment has to have, such as `frame-in:0`."""

from dataclasses import dataclass

FUNCTION = "function"  # entry into a function of the guest
DROP = "drop"  # of any kind
BAD = "frame-bad"
CSR_READ, CSR_WRITE = "csr-read", "csr-write"
DESCRIPTORS = {"rx-descriptor": "rx", "tx-descriptor": "tx"}  # and the direction of the registers
VALUE = "value"


@dataclass(frozen=True)
class Kind:
    """words: what can follow, each after a colon; `needed`: the first ones of them that have to.
    value: whether `=NUMBER` can follow; `shown`: only signals show it, so it takes a pass of its own."""

    words: tuple[str, ...] = ("PORT",)
    needed: int = 0
    value: bool = False
    shown: bool = False
    example: str = ""

    def form(self, name: str) -> str:
        words = [f":{word}" if at < self.needed else f"[:{word}]" for at, word in enumerate(self.words)]
        return (
            name + "".join(words) + ("[=NUMBER]" if self.words[0] == "NAME" else "=NUMBER") * self.value
        )


KINDS = {
    **{
        name: Kind()
        for name in (
            "frame-in",
            "frame-out",
            BAD,
            "rx-interrupt",
            "tx-interrupt",
            "rx-completed",
            "tx-completed",
            "rx-drop-ring",
            "rx-drop-fifo",
            "rx-drop-error",
            "rx-drop-filter",
            DROP,
        )
    },
    FUNCTION: Kind(("NAME",), 1, example="function:moderato_napi_poll"),
    CSR_READ: Kind(("NAME", "PORT"), 1, True, True, "csr-read:STATUS:0"),
    CSR_WRITE: Kind(("NAME", "PORT"), 1, True, True, "csr-write:RX_DOORBELL:0"),
    **{
        name: Kind(("PORT", "INDEX", "QUEUE"), 2, shown=True, example=f"{name}:0:17")
        for name in DESCRIPTORS
    },
    VALUE: Kind(("SIGNAL",), 1, True, True, f"{VALUE}:cpu0_wfi=1"),
}


@dataclass(frozen=True)
class Trigger:
    kind: str
    words: tuple[str, ...] = ()
    value: int | None = None

    def __str__(self) -> str:
        words = ":".join((self.kind, *self.words))
        return words if self.value is None else f"{words}={self.value}"


def parse(text: str) -> Trigger:
    """Without checks."""
    text, equals, value = text.partition("=")
    kind, *words = text.split(":")
    return Trigger(kind, tuple(words), int(value, 0) if equals else None)
