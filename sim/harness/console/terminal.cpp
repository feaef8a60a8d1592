// SPDX-License-Identifier: BSD-2-Clause
#include "terminal.h"

#include <poll.h>
#include <termios.h>
#include <unistd.h>

#include <chrono>

#include "interrupt.h"

namespace {

using Seconds = std::chrono::duration<double>;
using Clock = std::chrono::steady_clock;

constexpr char kCtrlA = 1;
constexpr uint64_t kSlice = 1 << 20;       // cycles between looks at the clock on the wall
constexpr uint64_t kSilence = 10000000;    // cycles without output after the end of the input
constexpr uint64_t kIdle = kSysClkHz;      // cycles at the prompt after which nothing is to be expected,
constexpr double kIdleShare = 0.05;        // and which share of a core the guest may have then

void write_all(const std::string& text) {
    for (size_t done = 0; done < text.size();) {
        const ssize_t count = ::write(STDOUT_FILENO, text.data() + done, text.size() - done);
        if (count < 0) throw file_error("standard output", "cannot be written");
        done += count;
    }
}

// Raw mode, and simulated time as the window's title, for as long as it lives.
class Terminal {
public:
    Terminal() : active_(::isatty(STDIN_FILENO) && ::tcgetattr(STDIN_FILENO, &before_) == 0) {
        if (!active_) return;
        termios raw = before_;
        ::cfmakeraw(&raw);
        ::tcsetattr(STDIN_FILENO, TCSANOW, &raw);
        const char* kind = std::getenv("TERM");
        titled_ = ::isatty(STDOUT_FILENO) && kind && std::string(kind) != "dumb";
        if (titled_) write_all("\033[22;0t");  // keeps the title (xterm)
    }
    ~Terminal() {
        if (!active_) return;
        static constexpr char kBefore[] = "\033[23;0t";
        if (titled_ && ::write(STDOUT_FILENO, kBefore, sizeof kBefore - 1) < 0) titled_ = false;
        ::tcsetattr(STDIN_FILENO, TCSANOW, &before_);
    }
    bool active() const { return active_; }

    void show(uint64_t cycle) {
        const auto now = Clock::now();
        if (!titled_ || now - shown_ < std::chrono::milliseconds(500)) return;
        shown_ = now;
        char title[64];
        std::snprintf(title, sizeof title, "\033]0;moderato: %.2f s simulated\007", double(cycle) / kSysClkHz);
        write_all(title);
    }

private:
    termios before_{};
    bool active_, titled_ = false;
    Clock::time_point shown_;
};

// What was typed, with the Ctrl-A commands taken out.
class Keyboard {
public:
    explicit Keyboard(bool terminal) : terminal_(terminal) {}
    bool quit() const { return quit_; }
    bool end() const { return end_; }

    // Whether there is something to read; waits for it.
    bool wait(Seconds seconds) const {
        pollfd input = {STDIN_FILENO, POLLIN, 0};
        return !end_ && ::poll(&input, 1, static_cast<int>(1000 * seconds.count())) > 0;
    }

    std::string read() {
        if (!wait(Seconds(0))) return "";
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
            else if (byte == kCtrlA) typed += kCtrlA;
        } else if (byte == kCtrlA) {
            escaped_ = true;
        } else {
            typed += byte;
        }
    }
};

class Interaction {
public:
    Interaction(Simulation& simulation, const std::string& prompt)
        : simulation_(simulation), prompt_(prompt), keyboard_(terminal_.active()) {
        simulation_.console().echo = [this](uint8_t byte) { printed_ += static_cast<char>(byte); };
        simulation_.progress = [this](uint64_t) { look_up(); };
    }
    ~Interaction() {
        simulation_.console().echo = nullptr;
        simulation_.progress = nullptr;
    }

    // Returns what the guest did, if it ended, or nothing.
    std::string run() {
        try {
            serve();
            return "";
        } catch (const Ended& ended) {
            look_up();
            return ended.what();
        }
    }

private:
    Simulation& simulation_;
    const std::string prompt_;
    Terminal terminal_;
    Keyboard keyboard_;
    std::string printed_;  // and not shown yet
    std::string line_;     // the last one that was printed
    uint64_t heard_ = 0;   // when something was printed or typed

    void serve() {
        printed_ = simulation_.console().consume() + prompt_;
        heard_ = simulation_.cycle();
        look_up();
        while (!ended()) {
            const uint64_t cycle = simulation_.cycle();
            const auto time = Clock::now();
            if (const std::string typed = keyboard_.read(); !typed.empty()) {
                simulation_.type(typed);
                heard_ = cycle;
            }
            simulation_.run(cycle + kSlice);
            look_up();
            if (terminal_.active()) rest(Seconds(double(simulation_.cycle() - cycle) / kSysClkHz), Clock::now() - time);
        }
    }

    bool ended() const {
        return keyboard_.quit() ||
               (keyboard_.end() && !simulation_.console().typing() && simulation_.cycle() > heard_ + kSilence);
    }

    // Several times a second while the clock runs.
    void look_up() {
        stop_if_interrupted();
        if (keyboard_.wait(Seconds(0))) simulation_.stop();
        if (simulation_.console().typing()) heard_ = simulation_.cycle();
        if (!printed_.empty()) {
            heard_ = simulation_.cycle();
            write_all(printed_);
            line_ += printed_;
            line_.erase(0, line_.find_last_of("\r\n") + 1);  // nothing, if there is neither: npos + 1 is 0
            printed_.clear();
            simulation_.console().consume();
        }
        terminal_.show(simulation_.cycle());
    }

    // Simulated time is not to pass faster than real time, nor an idle guest to cost a core.
    void rest(Seconds simulated, Seconds real) const {
        Seconds pause = simulated - real;
        const bool prompted = !prompt_.empty() && line_.compare(0, prompt_.size(), prompt_) == 0;
        if (prompted && simulation_.cycle() > heard_ + kIdle) pause = std::max(pause, real * (1 / kIdleShare - 1));
        if (pause > Seconds(0)) keyboard_.wait(pause);
    }
};

}  // namespace

void interact(Simulation& simulation, const std::string& prompt) {
    const std::string end = Interaction(simulation, prompt).run();
    simulation.console().flush_log();
    if (!end.empty()) std::fprintf(stderr, "\nmoderato: %s\n", end.c_str());
}
