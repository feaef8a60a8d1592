# SPDX-License-Identifier: BSD-2-Clause
# The two that everybody types; ./moderato has all commands. ARGS adds to their arguments.

.PHONY: help forward test

help:
	@echo 'make forward      Linux forwards between two ports, with all six variants: the main job'
	@echo 'make test         every test that takes less than minutes'
	@echo
	@echo "ARGS='...' adds options. ./moderato --help has the other commands."

# Linux forwards frames between two ports, with all six drivers; prints what each one costs.
forward:
	@./moderato forward $(ARGS)

# Every test that takes less than minutes; `make test ARGS='-m slow'` runs the others.
test:
	@./moderato test $(ARGS)
