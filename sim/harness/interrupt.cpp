// SPDX-License-Identifier: BSD-2-Clause
#include "interrupt.h"

#include <csignal>

#include "error.h"

namespace {

volatile std::sig_atomic_t interrupted = 0;

}  // namespace

void catch_interrupts() {
    struct sigaction action = {};
    action.sa_handler = [](int signal) { interrupted = signal; };  // no SA_RESTART: it also ends a wait for a command
    for (const int signal : {SIGINT, SIGTERM, SIGHUP}) ::sigaction(signal, &action, nullptr);
    std::signal(SIGPIPE, SIG_IGN);  // write errors report it
}

void stop_if_interrupted() {
    if (interrupted) throw Error("interrupted", kInterrupted);
}

int interrupted_by() { return interrupted; }
