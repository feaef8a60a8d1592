// SPDX-License-Identifier: BSD-2-Clause
#include "window.h"

#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <iterator>
#include <utility>

#include "error.h"
#include "protocol/fields.h"

namespace {

using Json = nlohmann::ordered_json;

constexpr size_t kLongestControl = 1 << 16;

bool of_a_port(unsigned source) {
    return std::any_of(std::begin(kLines), std::end(kLines),
                       [source](const auto& port) { return (port[0] | port[1]) >> source & 1; });
}

Json timer_json(const Timer& timer) { return {timer.count, timer.limit}; }

Json moderation_json(const Moderation& way) {
    return {{"armed", way.armed},
            {"unreported", way.unreported},
            {"frames", way.frames},
            {"packet", timer_json(way.packet)},
            {"absolute", timer_json(way.absolute)},
            {"gap", timer_json(way.gap)}};
}

Json fill_json(const Fill& fill) {
    Json queues = Json::array();
    for (const QueueFill& queue : fill.queues)
        queues.push_back({{"ring", queue.ring},
                          {"size", queue.size},
                          {"rx", moderation_json(queue.rx)},
                          {"tx", moderation_json(queue.tx)}});
    return {{"fifo", fill.fifo}, {"queues", queues}};
}

}  // namespace

Window::Window(int socket, Simulation& simulation, Live& live)
    : socket_(socket), simulation_(simulation), live_(live), echo_(simulation.console().echo),
      paused_(live.replaying()) {
    if (live.replaying()) history_.emplace(simulation, live);
    simulation_.console().echo = [this](uint8_t byte) {
        if (echo_ && simulation_.cycle() > furthest_) echo_(byte);
        if (open_ && printed_.size() < kMostPrinted) printed_ += static_cast<char>(byte);
        keep(static_cast<char>(byte));
    };
}

Window::~Window() {
    live_.watch(nullptr);
    say_goodbye();
    follow(false);
    simulation_.console().echo.swap(echo_);
    if (socket_ >= 0) ::close(socket_);
}

void Window::say_goodbye() noexcept try {
    if (!open_) return;
    tell({{"state", state()}});
    tell({{"ended", simulation_.cycle()}});
} catch (const std::exception&) {
    open_ = false;  // the page detects that the socket was closed
}

void Window::keep(char octet) {
    static const std::string kChosen = "both ports: ";  // as the guest's `variant` prints it
    kept_ += octet;
    if (kept_.size() >= 2 * kMostKept) kept_.erase(0, kMostKept);
    if (octet != '\n' && octet != '\r') {
        if (line_.size() < kLongestLine) line_ += octet;
        return;
    }
    if (line_.compare(0, kChosen.size(), kChosen) == 0) strategy_ = line_.substr(kChosen.size());
    line_.clear();
}

// Requests of the page ---------------------------------------------------------------------------------

void Window::serve() {
    static char control[kLongestControl];
    while (socket_ >= 0) {
        const ssize_t size = ::recv(socket_, control, sizeof control, MSG_DONTWAIT);
        if (size < 0) return;
        if (size == 0) {  // the page's server has ended
            ::close(std::exchange(socket_, -1));
            open(false);
            live_.note("the window's process is gone; the session goes on without a page");
            return;
        }
        try {
            obey(Json::parse(control, control + size));
        } catch (const Json::exception& error) {
            tell({{"note", "this is not understood: " + reason(error)}});
        } catch (const Error& error) { tell({{"note", error.what()}}); }
    }
}

void Window::obey(const Json& control) {
    const std::string name = text(control, "do");
    if (name == "open" || name == "close") {
        open(name == "open");
    } else if (name == "pause" || name == "run") {
        pause(name == "pause");
    } else if (name == "step") {
        const std::string to = text(control, "to");
        require(to == "frame" || to == "interrupt", "to: is neither frame nor interrupt");
        pause(false);
        step_ = to == "frame" ? Step::kFrame : Step::kInterrupt;
    } else if (name == "goto") {
        go_to(natural(control, "cycle"));
    } else if (name == "pace") {
        const double ratio = control.value("ratio", 0.0);
        require(ratio <= 0 || ratio >= Pace::kLeast, "ratio: has to be 0.000001 at least, or 0");
        ratio_.reset();
        if (ratio > 0) ratio_ = ratio;
    } else if (name == "load") {
        require_session();
        const uint64_t port = natural(control, "port", {}, kPorts - 1);
        const double percent = control.value("percent", 0.0);
        const uint64_t octets = natural(control, "octets");
        require(percent >= 0 && percent <= 100, "percent: is not 0 to 100");
        require(octets >= kMinFrame && octets <= kMaxFrame, "octets: a frame has 64 to 1518");
        require(!live_.wire() || live_.wire()->port() != port,
                "port: a wire to the other box is there, which loads it");
        live_.load(port, {static_cast<uint32_t>(10000 * percent), static_cast<uint32_t>(octets)});
    } else if (name == "type") {
        require_session();
        live_.type(text(control, "text"));
    } else {
        throw Error("a window has no control '" + name + "'");
    }
}

void Window::require_session() const {
    if (live_.replaying()) throw Error("a recording plays; what enters the box is what was recorded");
}

void Window::open(bool on) {
    if (on && open_) {  // the remaining output is for the open pages
        shown_ = {};
        show();
    }
    open_ = on;
    live_.watch(on ? this : nullptr);
    forget();
    if (!on) {
        follow(false);
        return pause(live_.replaying() && socket_ >= 0);  // no page could resume it
    }
    shown_ = {};
    tell({{"about", about()}});
    follow(true);
}

// Whether the page shows the harts' stacks. Only one profile can run.
void Window::follow(bool on) {
    if (!on && stacks_) {
        simulation_.unfollow();
        stacks_.reset();
    } else if (on && !live_.plan().symbols.empty() && !simulation_.profiler().running()) {
        simulation_.follow(live_.plan().symbols);
        stacks_.emplace();
    }
}

void Window::pause(bool on) {
    paused_ = on;
    step_ = Step::kNone;
    stop_ = kNever;
    shown_ = {};  // so that the page shows the state at once
}

// Output that was to be reported.
void Window::forget() {
    moments_.clear();
    printed_.clear();
    left_out_ = 0;
    latencies_ = {};
}

void Window::go_to(uint64_t cycle) {
    if (cycle < simulation_.cycle()) back(cycle);
    pause(cycle == simulation_.cycle());
    if (!paused_) stop_ = cycle;
}

void Window::back(uint64_t cycle) {
    const std::string wanted = "cycle " + std::to_string(cycle);
    if (!history_) throw Error(wanted + " has passed; only in the replay of a recording one can go back");
    if (live_.wire()) throw Error(wanted + " has passed, also for the other box at the wire, which does not go back");
    if (cycle < history_->first())
        throw Error(wanted + " was before the recording, which begins at " + std::to_string(history_->first()));
    if (simulation_.profiler().running() && !stacks_)
        throw Error("a profile counts the cycles of this replay, each once; to go back, play it without --folded");
    furthest_ = std::max(furthest_, simulation_.cycle());
    const bool followed = stacks_.has_value();
    follow(false);
    history_->back(cycle);
    follow(followed);
    forget();
    kept_.clear();
    line_.clear();
    strategy_ = "";
    shown_ = {};
    show();
}

void Window::reached(uint64_t cycle) {
    if (cycle >= stop_ || (looked_at_replay() && live_.finished(cycle))) pause(true);
    if (open_ && history_) history_->reached();
}

void Window::wait(Seconds seconds) const {
    pollfd input = {socket_, POLLIN, 0};
    ::poll(&input, 1, static_cast<int>(1000 * seconds.count()));
}

// Events -----------------------------------------------------------------------------------------------

void Window::passed(unsigned port, PcapngWriter::Direction direction, uint64_t cycle, const Octets& frame) {
    const auto octets = static_cast<unsigned>(frame.size());
    if (direction == PcapngWriter::kInbound) {
        latencies_.came(frame, cycle + simulation_.tester().rate().cycles(octets));
        note({'i', cycle, port, octets, {}}, Step::kFrame);
    } else {
        note({'o', cycle, port, octets, latencies_.left(frame, cycle)}, Step::kFrame);
    }
}

void Window::switched(uint64_t cycle, unsigned source, bool up) {
    if (of_a_port(source)) note({up ? 'u' : 'd', cycle, source, 0, {}}, up ? Step::kInterrupt : Step::kNone);
}

void Window::happened(uint64_t cycle, unsigned port, unsigned event) {
    if (std::string(kEventNames[event]).rfind("rx_drop", 0) == 0) note({'x', cycle, port, event, {}}, Step::kNone);
}

void Window::note(Moment moment, Step step) {
    moments_.push_back(moment);
    if (moments_.size() == 2 * kMostMoments) {
        moments_.erase(moments_.begin(), moments_.begin() + kMostMoments);
        left_out_ += kMostMoments;
    }
    if (step == Step::kNone || step != step_) return;
    pause(true);
    simulation_.halt();
}

// Messages ---------------------------------------------------------------------------------------------

void Window::show() {
    const auto now = std::chrono::steady_clock::now();
    if (!open_ || now - shown_ < kInterval) return;
    if (!tell({{"state", state()}})) return;  // the reader is slow: it gets the next state
    shown_ = now;
    if (stacks_) stacks_->told();
    moments_.clear();
    printed_.clear();
    left_out_ = 0;
}

Window::Json Window::about() const {
    Json lines = Json::array(), queues = Json::array();
    for (const auto& port : kLines) lines.push_back({{"rx", port[0]}, {"tx", port[1]}});
    for (unsigned port = 0; port < kPorts; ++port) queues.push_back(simulation_.fill(port).queues.size());
    return {{"sys_clk_hz", kSysClkHz},
            {"replaying", live_.replaying()},
            {"start", live_.start()},
            {"until", live_.plan().until ? Json(*live_.plan().until) : Json(nullptr)},
            {"mbps", simulation_.tester().rate().mbps()},
            {"events", kEventNames},
            {"lines", lines},
            {"queues", queues},
            {"strategy", strategy_ ? Json(*strategy_) : Json(nullptr)},
            {"printed", kept_.substr(kept_.size() - std::min(kept_.size(), kMostKept))}};
}

Window::Json Window::state() {
    const Counters& counters = simulation_.counters();
    Json ports = Json::array();
    for (unsigned number = 0; number < kPorts; ++number) {
        const Live::Port& port = live_.port(number);
        const Live::Load& load = live_.load(number);
        Json out = {{"in", port.in.frames},
                    {"out", port.out.frames},
                    {"dropped", port.dropped},
                    {"waiting", live_.waiting(number)},
                    {"events", counters.events[number]},
                    {"load", {{"percent", load.ppm / 10000.0}, {"octets", load.frame_bytes}}}};
        if (const Fill fill = simulation_.fill(number); !fill.queues.empty()) out["fill"] = fill_json(fill);
        ports.push_back(out);
    }
    Json moments = Json::array();
    for (const Moment& moment : moments_) {
        Json told = {std::string(1, moment.kind), moment.cycle, moment.what, moment.more};
        if (moment.latency) told.push_back(*moment.latency);
        moments.push_back(told);
    }
    return {{"cycle", simulation_.cycle()},
            {"paused", paused_},
            {"ratio", ratio_ ? Json(*ratio_) : Json(nullptr)},
            {"ports", ports},
            {"idle", counters.idle},
            {"lines", simulation_.lines()},
            {"wfi", simulation_.waiting()},
            {"moments", moments},
            {"left_out", left_out_},
            {"printed", printed_},
            {"stacks", stacks_ ? stacks_->tell(simulation_.profiler()) : Json(nullptr)}};
}

bool Window::tell(const Json& message) const {
    if (socket_ < 0) return false;
    const std::string line = message.dump(-1, ' ', false, Json::error_handler_t::replace);
    return ::send(socket_, line.data(), line.size(), MSG_DONTWAIT | MSG_NOSIGNAL) == static_cast<ssize_t>(line.size());
}
