# SPDX-License-Identifier: BSD-2-Clause
# The two most common commands; ./moderato has all. ARGS adds options.

.PHONY: help forward test

help:
	@echo 'make forward      Linux forwards between two ports, with each of the six variants'
	@echo 'make test         all tests except the slow ones'
	@echo
	@echo "ARGS='...' adds options. ./moderato --help has the other commands."

# Linux forwards frames between two ports, with each of the six variants; prints what each one costs.
forward:
	@./moderato forward $(ARGS)

# All tests except the slow ones; `make test ARGS='-m slow'` runs those.
test:
	@./moderato test $(ARGS)
