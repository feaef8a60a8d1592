# SPDX-License-Identifier: BSD-2-Clause
"""The changes of the gateware that a test must find: one at a time, each breaks one thing.

Those of gateware/ROOM/STAGE.py are in ROOM/STAGE.py here: `TESTS` names simulations of cocotb-tests, and
proofs, those first that are likely to find a mutant, or are quick; `MUTANTS` has (name, old text, new
text, what it breaks[, why it is equivalent]). What stands there must fit today's source
(test_mutants.py); who changes the gateware keeps it in step. A mutant that no test can tell from the
original says why.
"""

from importlib import import_module
from pathlib import Path

from ..overlay import Mutant

_FOLDER = Path(__file__).parent
_FILES  = {str(file.relative_to(_FOLDER)): import_module(
               ".".join([__name__, *file.relative_to(_FOLDER).with_suffix("").parts]))
           for file in sorted(_FOLDER.rglob("*.py")) if file.name != "__init__.py"}

# By gateware file.
TESTS   = {name: module.TESTS for name, module in _FILES.items()}
MUTANTS = [Mutant(name, *row) for name, module in _FILES.items() for row in module.MUTANTS]
