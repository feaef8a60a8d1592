# SPDX-License-Identifier: BSD-2-Clause
"""Changes of the gateware that the tests must find. Each one breaks one thing.

Mutants of gateware/ROOM/STAGE.py are in ROOM/STAGE.py here. `TESTS` names simulations and proofs, the
most likely or quickest killers first. `MUTANTS` has (name, old text, new text, what it breaks[, why it
is equivalent]). The old text must fit the source (test_mutants.py): a contributor who changes the
gateware also changes it here. A mutant that no test can distinguish from the original states the
reason.
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
