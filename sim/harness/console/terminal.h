// SPDX-License-Identifier: BSD-2-Clause
// The user's terminal as the guest's console.
#pragma once

#include "simulation.h"

class Live;

// Runs until Ctrl-A x; without a terminal, until the end of the input, when the guest is silent; or until the guest powers
// off or asks for a reset. `prompt`: the beginning of a line in which the guest waits for the user; one is printed at once.
// `live`: the session in progress, if any; it ends with the terminal.
void interact(Simulation& simulation, const std::string& prompt, Live* live = nullptr);
