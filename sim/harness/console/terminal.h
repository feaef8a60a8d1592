// SPDX-License-Identifier: BSD-2-Clause
// The user's terminal as the guest's console.
#pragma once

#include "simulation.h"

// Runs until Ctrl-C or Ctrl-A x, or, without a terminal, until the input is exhausted and the guest is silent.
void interact(Simulation& simulation);
