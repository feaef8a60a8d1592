// SPDX-License-Identifier: BSD-2-Clause
#include "terminal.h"

#include <poll.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <unistd.h>

#include <chrono>

#include "interrupt.h"
#include "live/clock.h"
#include "rates.h"

namespace {

using Seconds = std::chrono::duration<double>;
using Clock = std::chrono::steady_clock;

constexpr char kCtrlA = 1;
constexpr uint64_t kSlice = 1 << 20;       // cycles between checks of the wall-clock time
constexpr uint64_t kSilence = 10000000;    // cycles without output after the end of the input
constexpr uint64_t kIdle = kSysClkHz;      // cycles at the prompt after which no output is expected,
constexpr double kIdleShare = 0.05;        // and the share of a core that the guest may have then

void write_all(const std::string& text) {
    for (size_t done = 0; done < text.size();) {
        const ssize_t count = ::write(STDOUT_FILENO, text.data() + done, text.size() - done);
        if (count < 0 && errno != EINTR) throw file_error("standard output", "cannot be written");
        done += std::max<ssize_t>(count, 0);
        if (done < text.size()) stop_if_interrupted();  // the signal may be the reason for a partial write
    }
}

// NO_COLOR means that the user wants none: https://no-color.org
bool knows_escapes() {
    const char *const kind = std::getenv("TERM"), *const plain = std::getenv("NO_COLOR");
    return kind && std::string(kind) != "dumb" && !(plain && *plain);
}

// Whether the output ends outside of an escape sequence (ECMA-48), so that other output can follow.
bool whole(const std::string& text) {
    const size_t escape = text.rfind('\033');
    if (escape == std::string::npos) return true;
    const std::string sequence = text.substr(escape + 1);
    if (sequence.empty() || sequence[0] != '[') return !sequence.empty();
    return std::any_of(sequence.begin() + 1, sequence.end(), [](char byte) { return byte >= '@' && byte <= '~'; });
}

// Raw mode, the simulated time as the window's title, and optionally a status line at the bottom, for its lifetime.
class Terminal {
public:
    explicit Terminal(bool lined) : active_(::isatty(STDIN_FILENO) && ::tcgetattr(STDIN_FILENO, &before_) == 0) {
        if (!active_) return;
        termios raw = before_;
        ::cfmakeraw(&raw);
        ::tcsetattr(STDIN_FILENO, TCSANOW, &raw);
        titled_ = ::isatty(STDOUT_FILENO) && knows_escapes();
        if (titled_) write_all("\033[22;0t");  // saves the title (xterm)
        if (titled_ && lined) write_all("\n\033[A");  // moves the cursor off the last line
    }
    ~Terminal() {
        if (!active_) return;
        if (lined_) say("\0337\033[r\033[" + std::to_string(lined_) + "H\033[2K\0338");
        static constexpr char kBefore[] = "\033[23;0t";
        if (titled_) say(kBefore);
        ::tcsetattr(STDIN_FILENO, TCSANOW, &before_);
    }
    bool active() const { return active_; }
    bool titled() const { return titled_; }

    void show(uint64_t cycle) {
        const auto now = Clock::now();
        if (!titled_ || now - shown_ < std::chrono::milliseconds(500)) return;
        shown_ = now;
        char title[64];
        std::snprintf(title, sizeof title, "\033]0;moderato: %.2f s simulated\007", double(cycle) / kSysClkHz);
        write_all(title);
    }

    // In the last line of the window; the lines above it scroll.
    void show(const std::string& line) {
        winsize size{};
        if (::ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) < 0 || size.ws_row < 3) return;
        lined_ = size.ws_row;
        write_all("\0337\033[1;" + std::to_string(lined_ - 1) + "r\033[" + std::to_string(lined_) + "H\033[2K\033[7m" +
                  line.substr(0, size.ws_col) + "\033[m\0338");
    }

private:
    termios before_{};
    bool active_, titled_ = false;
    unsigned lined_ = 0;  // the number of the status line, if there is one
    Clock::time_point shown_;

    // Like write_all(), but ignores errors: they do not matter at the end.
    static void say(const std::string& text) {
        if (::write(STDOUT_FILENO, text.data(), text.size()) < 0) return;
    }
};

// The keys, without the Ctrl-A commands.
class Keyboard {
public:
    explicit Keyboard(bool terminal) : terminal_(terminal) {}
    bool quit() const { return quit_; }
    bool end() const { return end_; }
    // The descriptor to wait for, or -1 at the end of the input.
    int descriptor() const { return end_ ? -1 : STDIN_FILENO; }

    // Whether there is input; waits for it.
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
    Interaction(Simulation& simulation, const std::string& prompt, Live* live)
        : simulation_(simulation), prompt_(prompt), live_(live), offered_(simulation.traffic() && !live),
          terminal_(offered_), keyboard_(terminal_.active()), rates_(simulation) {
        simulation_.console().echo = [this](uint8_t byte) { printed_ += static_cast<char>(byte); };
        simulation_.progress = [this](uint64_t) { look_up(); };
    }
    ~Interaction() {
        simulation_.console().echo = nullptr;
        simulation_.progress = nullptr;
    }

    // Returns how the guest ended, if it did.
    std::string run() {
        try {
            if (live_) serve_live();
            else serve();
            return "";
        } catch (const Ended& ended) {
            look_up();
            return ended.what();
        }
    }

private:
    Simulation& simulation_;
    const std::string prompt_;
    Live* const live_;    // a session, or null
    const bool offered_;  // the tester offers frames
    Terminal terminal_;
    Keyboard keyboard_;
    Rates rates_;
    Clock::time_point told_ = Clock::now();
    std::string written_;  // the last octets of the shown output
    std::string printed_;  // output that is not shown yet
    std::string line_;     // the last line of the output
    uint64_t heard_ = 0;   // cycle of the last output or key

    void greet() {
        printed_ = simulation_.console().consume() + prompt_;
        heard_ = simulation_.cycle();
        look_up();
    }

    void serve() {
        greet();
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

    // A session's hosts may have frames at any time.
    void serve_live() {
        greet();
        LiveClock clock(simulation_, *live_);
        uint64_t frames = 0;
        while (!clock.over(ended())) {
            if (const std::string typed = keyboard_.read(); !typed.empty()) {
                live_->type(typed);
                heard_ = simulation_.cycle();
            }
            const auto time = Clock::now();
            clock.step();
            look_up();
            for (const std::string& note : live_->take_notes()) {
                const char* const end = terminal_.active() ? "\r\n" : "\n";
                std::fprintf(stderr, "%smoderato: %s%s", end, note.c_str(), end);
            }
            if (const uint64_t now = live_->frames(); std::exchange(frames, now) != now) heard_ = simulation_.cycle();
            const Seconds real = Clock::now() - time;
            clock.rest(keyboard_.descriptor(), idle() ? real * (1 / kIdleShare - 1) : Seconds(0));
        }
    }

    bool ended() const {
        return keyboard_.quit() ||
               (keyboard_.end() && !simulation_.console().typing() && simulation_.cycle() > heard_ + kSilence);
    }

    // Called several times a second while the clock runs.
    void look_up() {
        stop_if_interrupted();
        if (keyboard_.wait(Seconds(0))) simulation_.stop();
        if (simulation_.console().typing()) heard_ = simulation_.cycle();
        if (!printed_.empty()) {
            heard_ = simulation_.cycle();
            write_all(printed_);
            written_ += printed_;
            written_.erase(0, written_.size() - std::min<size_t>(written_.size(), 32));
            line_ += printed_;
            line_.erase(0, line_.find_last_of("\r\n") + 1);  // without either, the whole line: npos + 1 is 0
            printed_.clear();
            simulation_.console().consume();
        }
        if (!whole(written_)) return;
        terminal_.show(simulation_.cycle());
        if (offered_ && Clock::now() - told_ >= std::chrono::seconds(1)) tell();
    }

    // The fates of the offered frames.
    void tell() {
        told_ = Clock::now();
        const std::string line = rates_.line();
        if (line.empty()) return;
        if (terminal_.titled()) terminal_.show(line);
        else std::fprintf(stderr, "moderato: %s\n", line.c_str());
    }

    // Keeps simulated time from running ahead of real time, and an idle guest from using a core.
    void rest(Seconds simulated, Seconds real) const {
        Seconds pause = simulated - real;
        if (idle()) pause = std::max(pause, real * (1 / kIdleShare - 1));
        if (pause > Seconds(0)) keyboard_.wait(pause);
    }

    // The other box may have much work while this one waits.
    bool wired() const { return live_ && live_->wire(); }

    bool idle() const {
        const bool prompted = !prompt_.empty() && line_.compare(0, prompt_.size(), prompt_) == 0;
        return prompted && !offered_ && !wired() && simulation_.cycle() > heard_ + kIdle;
    }
};

}  // namespace

void interact(Simulation& simulation, const std::string& prompt, Live* live) {
    const std::string end = Interaction(simulation, prompt, live).run();
    simulation.console().flush_log();
    if (!end.empty()) std::fprintf(stderr, "\nmoderato: %s\n", end.c_str());
}
