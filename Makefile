# SPDX-License-Identifier: BSD-2-Clause
# Short names for what ./moderato does; ARGS adds to its arguments.

.PHONY: help forward report results test bench bitstream setup

help:
	@echo 'make forward      Linux forwards between two ports, with all six variants: the main job'
	@echo 'make test         every test that takes less than minutes'
	@echo 'make report       report.html from the trials of ./moderato rfc2544'
	@echo 'make results      every figure in docs anew, on a clean commit (hours: ARGS=--yes; docs/report.md)'
	@echo 'make bench        how fast the simulation is'
	@echo 'make bitstream    the SoC for an FPGA board: BOARD=versa_ecp5'
	@echo 'make setup        install all that is needed, without running anything'
	@echo
	@echo "ARGS='...' adds options. ./moderato --help has the other commands."

# Linux forwards frames between two ports, with all six drivers; prints what each one costs.
forward:
	@./moderato forward $(ARGS)

# Tables and figures from the trials of `./moderato rfc2544`, beside the paper's: report.html.
report:
	@./moderato report $(ARGS)

# Every figure in docs anew, on a clean commit: trials, profiles, tables (hours, so it asks for
# ARGS=--yes; docs/report.md tells of which parts).
results:
	@./moderato results $(ARGS)

# Every test that takes less than minutes; `make test ARGS='-m slow'` runs the others.
test:
	@./moderato test $(ARGS)

# How fast the simulation is, also against stock litex_sim.
bench:
	@./moderato bench $(ARGS)

# The SoC for an FPGA board: make bitstream BOARD=versa_ecp5
bitstream:
	@./moderato bitstream --board "$(BOARD)" $(ARGS)

# Everything that any of the above needs, without running it.
setup:
	@./moderato setup
