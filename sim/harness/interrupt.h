// SPDX-License-Identifier: BSD-2-Clause
// Ctrl-C and SIGTERM end a run at the next moment at which no file is half written.
#pragma once

void catch_interrupts();
void stop_if_interrupted();  // throws an Error with kInterrupted
int interrupted_by();        // the signal's number; 0: no signal came
