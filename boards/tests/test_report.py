# SPDX-License-Identifier: BSD-2-Clause
"""The report says what the tools said. The files are of Yosys 0.70 and nextpnr 0.11.1, shortened."""

import json
from pathlib import Path

import pytest

from moderato.boards import report

RECORDED = json.loads((Path(__file__).parent / "nextpnr-report.json").read_text())
