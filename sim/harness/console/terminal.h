// SPDX-License-Identifier: BSD-2-Clause
// The user's terminal as the guest's console.
#pragma once

#include "simulation.h"

class Live;

// Runs until Ctrl-A x or, without a terminal, until the input is exhausted and the guest is silent; or until the guest powers
// off or asks for a reset. `prompt`: what a line begins with in which the guest waits for the user; one is printed at once. `live`: the
// session that the simulation has in progress; it ends with the terminal.
void interact(Simulation& simulation, const std::string& prompt, Live* live = nullptr);
