# SPDX-License-Identifier: BSD-2-Clause
"""Versions, machine and build cache: for reports of faults."""

from . import files

EXAMPLES = ("", "--json about.json")


def options(parser):
    parser.add_argument(
        "--json",
        type=files.output_file,
        metavar="FILE",
        help="also write all of it here; - is standard output",
    )


def run(options) -> int:
    from moderato.toolchain.about import about

    from ..show import outputs

    found = about()
    print(text(found))
    if options.json:
        outputs.write_json(options.json, found)
        outputs.name(options.json)
    return 0


def text(found: dict) -> str:
    """The findings of about(), as text."""
    machine, cache = found["machine"], found["cache"]
    head = {"moderato": found["release"], "commit": found["commit"], "Python": found["python"]}
    here = machine | {"memory": size(machine["memory"])}
    kept = {
        "place": cache["place"] + ", not there" * (not cache["there"]),
        "size": size(cache["octets"]),
    }
    if cache["failed_build"]:
        kept["the last build that failed"] = cache["failed_build"]
    for name, kind in cache["kinds"].items():
        kept[name] = (
            f"{kind['artifacts']}, {size(kind['octets'])}"
            + f", {kind['damaged']} damaged" * bool(kind["damaged"])
        )
    return "\n\n".join(
        _block(*each)
        for each in (
            ("", head),
            ("Python packages", found["packages"]),
            ("programs", found["programs"]),
            ("machine", here),
            ("build cache", kept),
        )
    )


def _block(title: str, values: dict) -> str:
    wide = max(map(len, values))
    return "\n".join(
        [f"{title}:"] * bool(title)
        + [
            "  " * bool(title) + f"{name:{wide}}  {'-' if value is None else value}"
            for name, value in values.items()
        ]
    )


def size(octets: int) -> str:
    return f"{octets / 1e9:.1f} GB" if octets >= 1e9 else f"{octets / 1e6:.1f} MB"
