# SPDX-License-Identifier: BSD-2-Clause
"""CI runs all tests."""

import re

from moderato.toolchain.project import ROOT, pyproject


def test_each_folder_of_tests_has_a_shard():
    text = (ROOT / ".github" / "workflows" / "ci.yml").read_text()
    shards = " ".join(re.findall(r"^ +tests: (.*)$", text, re.MULTILINE)).split()
    assert set(pyproject()["tool"]["pytest"]["ini_options"]["testpaths"]) - set(shards) == set()
