// SPDX-License-Identifier: BSD-2-Clause
#include "terminal.h"

#include <poll.h>
#include <termios.h>
#include <unistd.h>

#include "interrupt.h"

namespace {

constexpr char kCtrlA = 1, kCtrlC = 3;
constexpr uint64_t kSilence = 10000000;  // cycles without output after the end of the input

// Raw mode, for as long as it lives.
class RawTerminal {
public:
    RawTerminal() : active_(::isatty(STDIN_FILENO) && ::tcgetattr(STDIN_FILENO, &before_) == 0) {
        if (!active_) return;
        termios raw = before_;
        ::cfmakeraw(&raw);
        raw.c_oflag |= OPOST;
        ::tcsetattr(STDIN_FILENO, TCSANOW, &raw);
    }
    ~RawTerminal() {
        if (active_) ::tcsetattr(STDIN_FILENO, TCSANOW, &before_);
    }
    bool active() const { return active_; }

private:
    termios before_{};
    bool active_;
};

// What was typed, with the Ctrl-A commands taken out.
class Keyboard {
public:
    explicit Keyboard(bool terminal) : terminal_(terminal) {}
    bool quit() const { return quit_; }
    bool end() const { return end_; }

    std::string read() {
        pollfd input = {STDIN_FILENO, POLLIN, 0};
        if (end_ || ::poll(&input, 1, 0) <= 0) return "";
        char bytes[256];
        const ssize_t count = ::read(STDIN_FILENO, bytes, sizeof bytes);
        end_ = count <= 0;
        if (!terminal_) return {bytes, bytes + std::max<ssize_t>(count, 0)};
        std::string typed;
        for (ssize_t i = 0; i < count; ++i) key(bytes[i], typed);
        return typed;
    }

private:
    bool terminal_, escaped_ = false, quit_ = false, end_ = false;

    void key(char byte, std::string& typed) {
        if (escaped_) {
            escaped_ = false;
            if (byte == 'x') quit_ = true;
            else if (byte == 'c') typed += kCtrlC;
            else if (byte == kCtrlA) typed += kCtrlA;
        } else if (byte == kCtrlA) {
            escaped_ = true;
        } else if (byte == kCtrlC) {
            quit_ = true;
        } else {
            typed += byte;
        }
    }
};

}  // namespace

void interact(Simulation& simulation) {
    const RawTerminal terminal;
    Keyboard keyboard(terminal.active());
    std::string printed = simulation.console().consume();
    uint64_t heard = simulation.cycle();
    simulation.console().echo = [&](uint8_t byte) { printed += static_cast<char>(byte); };
    simulation.progress = [](uint64_t) { stop_if_interrupted(); };
    const auto ended = [&] {
        return keyboard.quit() || (keyboard.end() && !simulation.console().typing() &&
                                   simulation.cycle() > heard + kSilence);
    };
    while (!ended()) {
        const std::string typed = keyboard.read();
        if (!typed.empty()) simulation.type(typed);
        simulation.run(simulation.cycle() + (1 << 14));  // 10 ms
        if (printed.empty() && !simulation.console().typing()) continue;
        heard = simulation.cycle();
        for (size_t done = 0; done < printed.size();) {
            const ssize_t count = ::write(STDOUT_FILENO, printed.data() + done, printed.size() - done);
            if (count < 0) throw file_error("standard output", "cannot be written");
            done += count;
        }
        printed.clear();
        simulation.console().consume();
    }
    simulation.console().flush_log();
}
