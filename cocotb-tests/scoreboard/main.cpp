// SPDX-License-Identifier: BSD-2-Clause
// Random frames both ways through the MAC's rings, each compared with a reference.
//
//     scoreboard SEED FRAMES [memory|wire]
//
// With the third word, an octet of the 100th received or sent frame is changed: then the run must fail.
//
// Runs in rounds: each has settings, rings and a memory of its own, and may end in a halt or a stop under
// traffic. At the end prints the number of hits of each bin of coverage.py, as JSON.

#include <bitset>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <memory>
#include <string>

#include "Vtop.h"
#include "frames.h"
#include "memory.h"
#include "moderato_regs.h"
#include "wire.h"

#if PLAIN
constexpr bool OPTIONS = false;
#else
constexpr bool OPTIONS = true;
#endif

constexpr uint32_t RX_RING = 0x10000, TX_RING = 0x20000, BUFFERS = 0x40000;
constexpr uint8_t STATION[] = {2, 0x4d, 0x6f, 0x64, 0, 0}, OTHER[] = {2, 0x54, 0x73, 0x74, 0, 0};
constexpr uint8_t FURTHER[] = {2, 0xaa, 0xbb, 0xcc, 0xdd, 0xee}, CONTROL[] = {1, 0x80, 0xc2, 0, 0, 1};
constexpr unsigned MIN = 60, TX_LONGEST = 4096 - 8;
constexpr uint8_t CANARY = 0xA5;
// Such a round has enough frames for indices to wrap: half of the received ones may be for other stations.
constexpr unsigned LONG_ROUND = 400, LONG_IN = 140000, LONG_OUT = 70000;

constexpr uint32_t COUNTERS[] = {
    MODERATO_STAT_RX_DROP_FIFO,       MODERATO_STAT_RX_DROP_RING,     MODERATO_STAT_RX_GOOD_FRAMES,
    MODERATO_STAT_RX_GOOD_OCTETS,     MODERATO_STAT_RX_UNDERSIZE,     MODERATO_STAT_RX_OVERSIZE,
    MODERATO_STAT_RX_FCS_ERRORS,      MODERATO_STAT_RX_FILTERED,      MODERATO_STAT_RX_PAUSE_FRAMES,
    MODERATO_STAT_RX_CONTROL_UNKNOWN, MODERATO_STAT_RX_VLAN_FILTERED, MODERATO_STAT_TX_GOOD_FRAMES,
    MODERATO_STAT_TX_PAUSE_FRAMES};

enum Fate { GOOD, UNDERSIZE, OVERSIZE, FCS, PAUSED, UNKNOWN, FILTERED, FOREIGN, FATES };
constexpr const char* FATE_NAMES[] = {"good",  "undersize",     "oversize", "wrong FCS",
                                      "pause", "other control", "filtered", "of another VLAN"};

// The settings of a round.
enum Kind { SMOOTH, TIGHT, REFUSING, HALTING, CUT };

struct Settings {
    Kind kind;
    unsigned max_frame, buffer;
    bool promiscuous, allmulti, strip, filter, insert, obey, ask, urgent;
    unsigned urgent_word;
    uint32_t urgent_value, urgent_mask;
    uint64_t hash;
    std::bitset<4096> members;
};

// A received frame as expected, and a sent one.
struct Delivery {
    Octets data;
    bool multicast, broadcast, urgent, tagged;
    uint16_t tci;
};

class Bench {
public:
    Bench(uint64_t seed, const std::string& spoils) : random(seed), memory(*dut, random), wire(*dut, 1000) {
        spoil_memory = spoils == "memory" ? 100 : 0;
        spoil_wire = spoils == "wire" ? 100 : 0;
        wire.next = [this](bool& error) { return next_inward(error); };
        wire.sent = [this](const Octets& frame) { left(frame); };
        dut->sys_rst = 1;
        for (int n = 0; n < 40; n++) clock();
        dut->sys_rst = 0;
        for (int n = 0; n < 200; n++) clock(); // the counters are cleared
    }

    void run(uint64_t frames) {
        while (received + transmitted < frames) round();
        std::map<std::string, uint64_t> totals = {
            {"received", received}, {"sent", transmitted}, {"clocks", clocks}, {"rounds", rounds}};
        printf("{\"totals\": {");
        print(totals);
        printf("}, \"bins\": {");
        print(bins);
        printf("}}\n");
    }

private:
    // Clock and registers ----------------------------------------------------------------------------

    void clock() {
        dut->sys_clk = 0;
        dut->eval();
        if (!dut->sys_rst) {
            memory.sample();
            wire.sample();
        }
        dut->sys_clk = 1;
        dut->eval();
        if (!dut->sys_rst) {
            memory.drive();
            wire.drive();
        }
        clocks++;
    }

    uint32_t access(uint32_t offset, bool write, uint32_t value = 0) {
        dut->bus_adr = offset / 4;
        dut->bus_we = write;
        dut->bus_dat_w = value;
        dut->bus_sel = 15;
        dut->bus_cyc = dut->bus_stb = 1;
        for (int n = 0; n < 20; n++) {
            dut->sys_clk = 0; // `ack` is the output of a register
            clock();
            if (dut->bus_ack) {
                uint32_t read = dut->bus_dat_r;
                // The register changes at the next edge.
                clock();
                dut->bus_cyc = dut->bus_stb = 0;
                return read;
            }
        }
        fail("a register does not answer");
    }
    void write(uint32_t offset, uint32_t value) { access(offset, true, value); }
    uint32_t read(uint32_t offset) { return access(offset, false); }

    // A counter's increase since it was last read.
    uint64_t counted(uint32_t offset) {
        uint32_t now = read(offset), before = counters[offset];
        counters[offset] = now;
        return uint32_t(now - before);
    }

    [[noreturn]] void fail(const std::string& what) {
        fprintf(stderr, "FAILED: round %lu, clock %lu: %s\n", (unsigned long)rounds, (unsigned long)clocks,
                what.c_str());
        exit(1);
    }
    void expect(bool right, const std::string& what) {
        if (!right) fail(what);
    }
    void hit(const std::string& bin) { bins[bin]++; }
    static void print(const std::map<std::string, uint64_t>& numbers) {
        const char* comma = "";
        for (auto& [name, number] : numbers) {
            printf("%s\"%s\": %lu", comma, name.c_str(), (unsigned long)number);
            comma = ", ";
        }
    }

    // Received frames --------------------------------------------------------------------------------

    Octets random_frame(unsigned octets) {
        Octets frame(octets);
        for (size_t n = 0; n < frame.size(); n += 8) {
            uint64_t some = random();
            for (size_t k = n; k < frame.size() && k < n + 8; k++) frame[k] = uint8_t(some >> 8 * (k - n));
        }
        return frame;
    }

    unsigned random_length() {
        switch (random.below(10)) {
            case 0: return settings.max_frame - 4 - random.below(9);
            case 1: return unsigned(random.between(MIN, 400));
            default: return unsigned(random.between(MIN, 100));
        }
    }

    Octets next_inward(bool& error) {
        if (!inward_left || quiet) {
            quiet -= quiet > 0;
            return {};
        }
        inward_left--;
        received++;
        if (random.chance(0.1)) quiet = random.below(2000);
        unsigned length = random_length();
        unsigned kind = random.below(100);
        if (kind < 3) length = unsigned(random.between(1, 59));
        if (kind == 3) length = settings.max_frame - 4 + unsigned(random.of({1, 2, 3, 4, 5, 100, 3000}));
        Octets frame = random_frame(std::max(length, 14u));
        const uint8_t* to = kind < 60 ? STATION : kind < 66 ? OTHER : kind < 72 ? FURTHER : nullptr;
        if (to) {
            memcpy(frame.data(), to, 6);
        } else if (kind < 80) {
            memset(frame.data(), 0xFF, 6);
        } else if (kind < 90) {
            frame[0] |= 1;
        } else {
            memcpy(frame.data(), STATION, 6);
        }
        if (random.chance(0.05) && length >= MIN) {
            const uint8_t control[] = {0x88, 0x08, 0, uint8_t(random.of({1, 1, 2})), 0, uint8_t(random.below(20))};
            memcpy(frame.data(), random.chance(0.5) ? CONTROL : STATION, 6);
            memcpy(frame.data() + 12, control, 6);
        }
        for (unsigned tags = random.of({0u, 0u, 1u, 1u, 2u}); tags; tags--) {
            uint16_t vid = random.of<uint16_t>({0, 1, 2, 3, 0xFFF, uint16_t(random.below(4096))});
            put_tag(frame, random.chance(0.9) ? 0x8100 : 0x88A8, uint16_t(random.below(16) << 12 | vid));
            if (length >= MIN && random.chance(0.5) && frame.size() >= MIN + 4) frame.resize(frame.size() - 4);
        }
        if (length < 14) frame.resize(length);
        add_fcs(frame);
        if (random.chance(0.03)) frame[random.below(frame.size())] ^= 1 << random.below(8);
        error = random.chance(0.02);
        if (error) hit("rx: marked by the PHY");
        judge(frame, error);
        return frame;
    }

    // Predicts the fate of a frame: counts it, and expects the good ones.
    void judge(const Octets& frame, bool error) {
        size_t octets = frame.size();
        bool tagged = octets >= 16 && big16(frame, 12) == 0x8100;
        bool out = tagged && settings.strip;
        uint16_t tci = tagged ? big16(frame, 14) : 0;
        Fate fate = GOOD;
        bool to_station = octets >= 6 && !memcmp(frame.data(), STATION, 6);
        bool to_further = OPTIONS && octets >= 6 && !memcmp(frame.data(), FURTHER, 6);
        bool multicast = frame[0] & 1, broadcast = octets >= 6;
        for (int n = 0; n < 6 && broadcast; n++) broadcast = frame[n] == 0xFF;
        bool accept = settings.promiscuous || to_station || to_further || broadcast ||
                      (multicast && (settings.allmulti || settings.hash >> hash_bit_of(frame) & 1));
        if (octets < 64) fate = UNDERSIZE;
        else if (octets - 4 * out > settings.max_frame) fate = OVERSIZE;
        else if (error || crc32(frame.data(), octets) != 0xDEBB20E3) fate = FCS;
        else if (settings.obey && big16(frame, 12) == 0x8808 &&
                 (to_station || to_further || !memcmp(frame.data(), CONTROL, 6)))
            fate = big16(frame, 14) == 1 ? PAUSED : UNKNOWN;
        else if (!accept) fate = FILTERED;
        else if (settings.filter && tagged && (tci & 0xFFF) && !settings.members[tci & 0xFFF] && !settings.promiscuous)
            fate = FOREIGN;
        fates[fate]++;
        total_octets += fate == GOOD ? octets : 0;
        hit(std::string("rx: ") + FATE_NAMES[fate]);
        if (fate != GOOD) return;

        Delivery delivery{
            Octets(frame.begin(), frame.end() - 4), multicast, broadcast, false, out, uint16_t(out ? tci : 0)};
        if (settings.urgent) {
            uint32_t word;
            memcpy(&word, &frame[4 * settings.urgent_word], 4);
            delivery.urgent = !((word ^ settings.urgent_value) & settings.urgent_mask);
        }
        if (out) delivery.data.erase(delivery.data.begin() + 12, delivery.data.begin() + 16);
        cover(frame, delivery, tagged);
        deliveries.push_back(std::move(delivery));
    }

    unsigned hash_bit_of(const Octets& frame) { return frame.size() >= 6 ? hash_bit(frame) : 0; }

    void cover(const Octets& frame, const Delivery& delivery, bool tagged) {
        hit("rx: length mod 8 = " + std::to_string(delivery.data.size() % 8));
        if (delivery.tagged) hit("rx: without its tag, length mod 8 = " + std::to_string(delivery.data.size() % 8));
        if (frame.size() == 64) hit(delivery.tagged ? "rx: the shortest, without its tag" : "rx: the shortest");
        if (delivery.data.size() + 4 == settings.max_frame)
            hit(delivery.tagged ? "rx: the longest, without its tag" : "rx: the longest");
        if (tagged && !delivery.tagged) hit("rx: a tag stays");
        if (tagged && !(delivery.tci & 0xFFF) && delivery.tagged) hit("rx: priority only");
        if (delivery.tagged && big16(delivery.data, 12) == 0x8100) hit("rx: two tags");
        if (delivery.multicast && !delivery.broadcast) hit("rx: multicast");
        if (delivery.broadcast) hit("rx: broadcast");
        if (delivery.urgent) hit("rx: urgent");
        if (settings.obey && big16(frame, 12) == 0x8100 && frame.size() >= 20 && big16(frame, 16) == 0x8808)
            hit("rx: control after a tag");
        if (settings.filter && tagged && (big16(frame, 14) & 0xFFF)) hit("rx: of a member's VLAN");
    }

    struct Ring {
        uint32_t base, regs;
        unsigned order = 8;
        uint16_t producer = 0, consumer = 0;
        unsigned size() const { return 1u << order; }
        unsigned room() const { return size() - uint16_t(producer - consumer); }
        uint32_t at(uint16_t index) const { return base + (index & (size() - 1)) * 16; }
    };

    uint32_t allocate(unsigned bytes, unsigned offset) {
        if (next_buffer + bytes + offset + 192 > Memory<Vtop>::SIZE) next_buffer = BUFFERS;
        uint32_t address = next_buffer + 64 + offset;
        next_buffer += (bytes + offset + 128 + 63) & ~63u;
        return address;
    }

    // Rx buffers for `count` descriptors; memory returns an error for a beat of some.
    void post_rx(unsigned count) {
        for (; count && rx.room(); count--) {
            uint32_t address = allocate(settings.buffer, 0);
            memset(&memory.bytes[address - 64], CANARY, settings.buffer + 128);
            if (settings.kind == REFUSING && random.chance(0.1))
                memory.bad.insert(bad_of[address] = address + 8 * uint32_t(random.below(settings.buffer / 8)));
            uint32_t at = rx.at(rx.producer);
            memory.write32(at, address);
            memory.write32(at + 4, settings.buffer);
            memory.write32(at + 8, uint32_t(random()));
            rx_buffers[rx.producer++ & (rx.size() - 1)] = address;
        }
        write(rx.regs + MODERATO_DIR_DOORBELL, rx.producer);
    }

    bool completed(const Ring& ring, uint32_t& status) {
        status = memory.read32(ring.at(ring.consumer) + 12);
        return ring.producer != ring.consumer && (status >> 31) != (ring.consumer >> ring.order & 1u);
    }

    // The oldest completed Rx descriptor, if there is one.
    bool take_rx() {
        uint32_t status;
        if (!completed(rx, status)) return false;
        uint32_t word = memory.read32(rx.at(rx.consumer) + 8);
        uint32_t address = rx_buffers[rx.consumer & (rx.size() - 1)];
        unsigned length = status & 0xFFFF;
        bool error = status & MODERATO_DESC_STATUS_ERROR;
        rx.consumer++;
        if (rx.consumer == 0) hit("rx: the index wraps");
        if (!error && spoil_memory && !--spoil_memory)
            memory.bytes[address + MODERATO_RX_OFFSET + random.below(length)] ^= 1;
        if ((rx.consumer & (rx.size() - 1)) == 0) hit("rx: the ring wraps");
        uint32_t bad = 0;
        if (auto found = bad_of.find(address); found != bad_of.end()) {
            bad = found->second;
            memory.bad.erase(bad);
            bad_of.erase(found);
        }
        while (true) {
            expect(!deliveries.empty(), "a frame came that nobody sent");
            Delivery& frame = deliveries.front();
            unsigned beats = unsigned(frame.data.size() + MODERATO_RX_OFFSET + 7) / 8;
            bool fits = beats * 8 <= (settings.buffer & ~7u);
            bool refused = fits && bad && bad < address + 8 * beats;
            bool same = error ? !fits || refused
                              : fits && !refused && length == frame.data.size() &&
                                    !memcmp(&memory.bytes[address + MODERATO_RX_OFFSET], frame.data.data(), length);
            if (!same) {
                expect(settings.kind == TIGHT, error ? "ERROR for a frame without one" : "not the frame that was sent");
                deliveries.pop_front();
                skipped++;
                continue;
            }
            if (error) {
                hit(fits ? "rx: memory returns an error" : "rx: does not fit its buffer");
                expect(length == 0 && word == 0 &&
                           !(status & ~(MODERATO_DESC_STATUS_ERROR | MODERATO_DESC_STATUS_PHASE |
                                        MODERATO_DESC_STATUS_MULTICAST | MODERATO_DESC_STATUS_BROADCAST |
                                        MODERATO_DESC_STATUS_URGENT)),
                       "ERROR next to other events");
            } else {
                uint32_t flags = MODERATO_DESC_STATUS_MULTICAST * frame.multicast |
                                 MODERATO_DESC_STATUS_BROADCAST * frame.broadcast |
                                 MODERATO_DESC_STATUS_URGENT * frame.urgent |
                                 MODERATO_DESC_STATUS_TAGGED * frame.tagged;
                expect((status & ~MODERATO_DESC_STATUS_PHASE) == (flags | length), "another status");
                uint16_t sum = OPTIONS ? summed(frame.data.data() + 14, length - 14) : 0;
                expect(word == (uint32_t(frame.tci) << 16 | sum), "another sum or tag");
                for (unsigned n = 8 * beats; n < settings.buffer + 64; n++)
                    expect(memory.bytes[address + n] == CANARY, "written beyond the frame");
                for (unsigned n = 1; n <= 64; n++)
                    expect(memory.bytes[address - n] == CANARY, "written before the frame");
            }
            deliveries.pop_front();
            taken++;
            return true;
        }
    }

    // Sent frames ------------------------------------------------------------------------------------

    void post_tx(unsigned count) {
        for (; count && tx.room() && outward_left; count--, outward_left--) {
            unsigned length = random.chance(0.1)    ? unsigned(random.between(1, 59))
                              : random.chance(0.1)  ? unsigned(random.between(1500, 1514))
                              : random.chance(0.01) ? TX_LONGEST
                                                    : unsigned(random.between(MIN, 130));
            bool illegal = random.chance(0.01);
            if (illegal) length = random.of({0u, TX_LONGEST + 1, 0xFFFFu});
            Octets frame = random_frame(illegal ? 0 : length);
            unsigned offset = unsigned(random.below(64));
            uint32_t address = allocate(unsigned(frame.size()), offset);
            memcpy(&memory.bytes[address], frame.data(), frame.size());
            bool refused = false;
            if (settings.kind == REFUSING && !illegal && random.chance(0.05)) {
                uint32_t first = address & ~7u, last = (address + length - 1) & ~7u;
                memory.bad.insert(bad_of[address] = first + 8 * uint32_t(random.below((last - first) / 8 + 1)));
                refused = true;
            }
            bool insert = OPTIONS && random.chance(0.4), tag = settings.insert && random.chance(0.4);
            unsigned start = unsigned(random.below(2 * std::max(length, 8u))) & 0x3FFF;
            unsigned place = unsigned(random.below(2 * std::max(length, 8u))) & 0x3FFF;
            uint16_t tci = uint16_t(random());
            uint32_t at = tx.at(tx.producer);
            memory.write32(at, address);
            memory.write32(at + 4, length);
            memory.write32(at + 8, start | place << 16 | (insert ? 1u << 31 : 0));
            if (settings.insert)
                memory.write32(at + 12,
                               (tx.producer >> tx.order & 1u) << 31 | (tag ? MODERATO_DESC_TX_TAG_TAGGED : 0) | tci);
            tx_jobs[tx.producer++ & (tx.size() - 1)] = {address, illegal || refused};
            transmitted++;
            if (illegal || refused) {
                hit(illegal ? "tx: an illegal length" : "tx: memory returns an error");
                continue;
            }
            hit("tx: length mod 4 = " + std::to_string(length % 4) +
                ", address mod 8 = " + std::to_string(address % 8));
            if (length == TX_LONGEST) hit("tx: the longest");
            if (insert) {
                start &= ~1u;
                place &= ~1u;
                uint16_t sum = start < length ? summed(&frame[start], length - start) : 0;
                uint16_t check = uint16_t(~sum) ? uint16_t(~sum) : 0xFFFF;
                for (unsigned n = 0; n < 2; n++)
                    if (place + n < length) frame[place + n] = uint8_t(check >> 8 * n);
                hit(start >= length       ? "tx: a checksum of nothing"
                    : place >= length     ? "tx: a checksum beyond the end"
                    : place + 1 == length ? "tx: half a checksum"
                    : tag                 ? "tx: a checksum and a tag"
                                          : "tx: a checksum");
            }
            if (length < MIN) hit(tag ? "tx: padded, with a tag" : "tx: padded");
            if (tag) {
                if (frame.size() < MIN - 4) frame.resize(MIN - 4);
                put_tag(frame, 0x8100, tci);
                hit("tx: a tag");
            }
            if (frame.size() < MIN) frame.resize(MIN);
            add_fcs(frame);
            departures.push_back(std::move(frame));
        }
        write(tx.regs + MODERATO_DIR_DOORBELL, tx.producer);
    }

    bool take_tx() {
        uint32_t status;
        if (!completed(tx, status)) return false;
        auto [address, error] = tx_jobs[tx.consumer & (tx.size() - 1)];
        expect((status & ~MODERATO_DESC_STATUS_PHASE) == (error ? MODERATO_DESC_STATUS_ERROR : 0), "another Tx status");
        expect(memory.read32(tx.at(tx.consumer) + 8) == 0, "word 2 of a sent frame is not 0");
        tx.consumer++;
        if (tx.consumer == 0) hit("tx: the index wraps");
        if ((tx.consumer & (tx.size() - 1)) == 0) hit("tx: the ring wraps");
        if (auto found = bad_of.find(address); found != bad_of.end()) {
            memory.bad.erase(found->second);
            bad_of.erase(found);
        }
        return true;
    }

    // On the wire.
    void left(Octets frame) {
        wire_frames++;
        if (spoil_wire && !--spoil_wire) frame[random.below(frame.size())] ^= 1;
        if (settings.ask && big16(frame, 12) == 0x8808 && !memcmp(frame.data(), CONTROL, 6) &&
            !memcmp(frame.data() + 6, STATION, 6)) {
            Octets right(frame.begin(), frame.end() - 4);
            add_fcs(right);
            expect(frame == right && frame.size() == 64, "a damaged pause frame");
            hit(big16(frame, 16) ? "pause: the other end has to stop" : "pause: it may go on");
            own_frames++;
            return;
        }
        expect(!departures.empty(), "a frame left that nobody sent");
        expect(frame == departures.front(), "not the frame that was to be sent");
        departures.pop_front();
    }

    // Rounds -----------------------------------------------------------------------------------------

    void choose(bool smooth) {
        Settings& s = settings;
        s = {};
        s.kind = smooth ? SMOOTH : random.of({SMOOTH, TIGHT, TIGHT, REFUSING, HALTING, HALTING, CUT});
        s.max_frame = unsigned(random.of({1518, 1518, 1522, 2000, 300}));
        s.buffer = s.kind == REFUSING ? unsigned(random.of({1600, 128, 400})) : 2048;
        s.promiscuous = random.chance(0.15);
        s.allmulti = random.chance(0.3);
        s.hash = random();
        if (OPTIONS) {
            s.strip = random.chance(0.6);
            s.filter = random.chance(0.6);
            s.insert = random.chance(0.7);
            s.obey = random.chance(0.5);
            s.ask = random.chance(0.5);
            s.urgent = random.chance(0.5);
            s.urgent_word = unsigned(random.below(12));
            s.urgent_value = uint32_t(random());
            s.urgent_mask = 3u << random.below(31);
            for (unsigned vid : {1, 3, 0xFFF}) s.members[vid] = random.chance(0.7);
            for (int n = 0; n < 1000; n++) s.members[random.below(4096)] = true;
        }
        rx.order = unsigned(s.kind == TIGHT ? random.between(2, 4) : random.between(6, 8));
        tx.order = unsigned(random.between(2, 7));
        memory.latency = random.of({0, 8, 8, 30});
        memory.pause = random.of({0.0, 0.0, 0.2});
        for (auto [name, on] : {std::pair{"strip", s.strip},
                                {"filter", s.filter},
                                {"insert", s.insert},
                                {"promiscuous", s.promiscuous},
                                {"allmulti", s.allmulti},
                                {"obey", s.obey},
                                {"ask", s.ask},
                                {"urgent", s.urgent}})
            hit(std::string("set: ") + name + (on ? " on" : " off"));
        if (memory.pause > 0) hit("memory: pauses");
        if (memory.latency > 8) hit("memory: late");
    }

    void start() {
        write(MODERATO_MAC_LOW, STATION[0] | STATION[1] << 8 | STATION[2] << 16 | uint32_t(STATION[3]) << 24);
        write(MODERATO_MAC_HIGH, STATION[4] | STATION[5] << 8);
        write(MODERATO_HASH_LOW, uint32_t(settings.hash));
        write(MODERATO_HASH_HIGH, uint32_t(settings.hash >> 32));
        write(MODERATO_MAX_FRAME, settings.max_frame);
        if (OPTIONS) {
            write(MODERATO_UNICAST_LOW_2, FURTHER[0] | FURTHER[1] << 8 | FURTHER[2] << 16 | uint32_t(FURTHER[3]) << 24);
            write(MODERATO_UNICAST_HIGH_2, FURTHER[4] | FURTHER[5] << 8 | MODERATO_UNICAST_HIGH_2_ON);
            write(MODERATO_URGENT, settings.urgent ? MODERATO_URGENT_ON_0 | settings.urgent_word << 4 : 0);
            write(MODERATO_URGENT_VALUE_0, settings.urgent_value);
            write(MODERATO_URGENT_MASK_0, settings.urgent_mask);
            write(MODERATO_VLAN, settings.strip | settings.filter << 1 | settings.insert << 2);
            for (unsigned row = 0; settings.filter && row < 256; row++) {
                uint32_t bits = 0;
                for (unsigned n = 0; n < 16; n++) bits |= uint32_t(settings.members[16 * row + n]) << n;
                write(MODERATO_VLAN_TABLE, row << 16 | bits);
            }
            write(MODERATO_PAUSE_FIFO, 4096 << 16 | 3000);
            write(MODERATO_PAUSE_RING, (rx.size() / 2) << 16 | rx.size() / 4);
            write(MODERATO_PAUSE_QUANTA, unsigned(random.between(16, 60)));
            write(MODERATO_PAUSE, settings.obey | settings.ask << 1);
        }
        for (Ring* ring : {&rx, &tx}) {
            memset(&memory.bytes[ring->base], 0, ring->size() * 16);
            ring->producer = ring->consumer = 0;
            write(ring->regs + MODERATO_DIR_RING_BASE, ring->base);
            write(ring->regs + MODERATO_DIR_RING_ORDER, ring->order);
        }
        write(MODERATO_CTRL, MODERATO_CTRL_RX_ENABLE | MODERATO_CTRL_TX_ENABLE |
                                 MODERATO_CTRL_PROMISCUOUS * settings.promiscuous |
                                 MODERATO_CTRL_ALLMULTI * settings.allmulti);
        post_rx(rx.size());
    }

    // The driver looks at both rings, and releases completed descriptors.
    void look() {
        while (take_rx()) {}
        while (take_tx()) {}
        if (rx.room() && (settings.kind != TIGHT || random.chance(0.3)))
            post_rx(settings.kind == TIGHT ? unsigned(random.between(1, 4)) : rx.size());
        if (tx.room() && outward_left && random.chance(0.7)) post_tx(unsigned(random.between(1, 12)));
    }

    void halt() {
        uint32_t base = random.of({RX_RING, TX_RING});
        bool of_writes = random.chance(0.5);
        memory.refuses = [=](uint32_t address, bool write) {
            return write == of_writes && address >= base && address < base + 0x8000;
        };
        for (int n = 0; n < 40000; n++) {
            if (n % 50 == 0) look();
            clock();
            uint32_t status = n % 100 ? 0 : read(MODERATO_STATUS);
            if (status & (MODERATO_STATUS_RX_HALTED | MODERATO_STATUS_TX_HALTED)) {
                hit(std::string("halt: ") + (base == RX_RING ? "Rx" : "Tx") + (of_writes ? " status" : " descriptors"));
                expect(bool(status & MODERATO_STATUS_RX_HALTED) == (base == RX_RING), "the other ring halted");
                break;
            }
        }
        for (int n = 0; n < 2000; n++) clock();
        look_only();
    }
    void look_only() {
        while (take_rx()) {}
        while (take_tx()) {}
    }

    void stop() {
        write(MODERATO_CTRL, 0);
        for (int n = 0; n < 1000; n++) {
            uint32_t idle = MODERATO_STATUS_RX_IDLE | MODERATO_STATUS_TX_IDLE;
            if ((read(MODERATO_STATUS) & idle) == idle) {
                expect(memory.idle(), "idle with bursts in progress");
                return;
            }
            clock();
        }
        fail("not idle after disabling");
    }

    void round() {
        rounds++;
        for (uint64_t& count : fates) count = 0;
        skipped = taken = own_frames = wire_frames = total_octets = 0;
        bool long_round = rounds % LONG_ROUND == 0;
        choose(long_round);
        start();
        inward_left = long_round ? LONG_IN : random.between(20, 500);
        outward_left = long_round ? LONG_OUT : random.between(20, 500);
        uint64_t until = settings.kind == HALTING || settings.kind == CUT ? clocks + random.between(200, 20000) : ~0ull;
        uint64_t limit = clocks + 50'000'000, starve = 0;
        while ((inward_left || outward_left || wire.busy || !departures.empty() || !settled()) && clocks < until) {
            expect(clocks < limit, "frames are left: " + std::to_string(departures.size()) + " to be sent, " +
                                       std::to_string(deliveries.size()) + " to be received");
            if (settings.kind == TIGHT && clocks >= starve) {
                memory.starved = !memory.starved && random.chance(0.3);
                starve = clocks + random.between(100, memory.starved ? 12000 : 4000);
                if (!inward_left) memory.starved = false;
            }
            look();
            for (uint64_t n = random.below(60); n; n--) clock();
        }
        memory.starved = false;
        if (settings.kind == HALTING) halt();
        if (settings.kind == HALTING || settings.kind == CUT) {
            finish_cut();
        } else {
            finish_whole();
        }
        memory.refuses = nullptr;
        memory.bad.clear();
        bad_of.clear();
    }

    // Whether all frames on their way inward have been counted. Reading the counters is slow, so this is rare.
    bool settled() {
        if (inward_left || wire.busy) return false;
        for (int n = 0; n < 300; n++) clock();
        look_only();
        return memory.idle() && deliveries.size() <= (settings.kind == TIGHT ? deliveries.size() : 0);
    }

    void finish_whole() {
        for (int n = 0; n < (settings.kind == TIGHT ? 20000 : 500); n++) {
            if (n % 20 == 0) look_only();
            clock();
        }
        look_only();
        uint64_t fifo = counted(MODERATO_STAT_RX_DROP_FIFO), ring = counted(MODERATO_STAT_RX_DROP_RING);
        if (fifo) hit("rx: the FIFO is full");
        if (ring) hit("rx: the ring is empty");
        expect(settings.kind == TIGHT || fifo + ring == 0, "frames were dropped");
        skipped += deliveries.size();
        deliveries.clear();
        expect(skipped == fifo + ring, "lost " + std::to_string(skipped) + " frames, " + std::to_string(fifo) +
                                           " and " + std::to_string(ring) + " are counted");
        expect(taken + skipped == fates[GOOD], "a frame was lost");
        uint64_t good = counted(MODERATO_STAT_RX_GOOD_FRAMES);
        expect(good == fates[GOOD] - fifo, "RX_GOOD_FRAMES");
        uint64_t octets = counted(MODERATO_STAT_RX_GOOD_OCTETS);
        expect(fifo || octets == total_octets, "RX_GOOD_OCTETS");
        check(MODERATO_STAT_RX_UNDERSIZE, UNDERSIZE);
        check(MODERATO_STAT_RX_OVERSIZE, OVERSIZE);
        check(MODERATO_STAT_RX_FCS_ERRORS, FCS);
        check(MODERATO_STAT_RX_FILTERED, FILTERED);
        if (OPTIONS) {
            check(MODERATO_STAT_RX_PAUSE_FRAMES, PAUSED);
            check(MODERATO_STAT_RX_CONTROL_UNKNOWN, UNKNOWN);
            check(MODERATO_STAT_RX_VLAN_FILTERED, FOREIGN);
        }
        stop();
        settle_tx();
        expect(departures.empty(), "a frame was not sent");
        expect(counted(MODERATO_STAT_TX_GOOD_FRAMES) == wire_frames, "TX_GOOD_FRAMES");
        if (OPTIONS) expect(counted(MODERATO_STAT_TX_PAUSE_FRAMES) == own_frames, "TX_PAUSE_FRAMES");
    }
    void check(uint32_t offset, Fate fate) {
        uint64_t count = counted(offset);
        expect(count == fates[fate], std::string(FATE_NAMES[fate]) + ": " + std::to_string(count) + " are counted of " +
                                         std::to_string(fates[fate]));
    }

    // Frames in the FIFO still leave.
    void settle_tx() {
        if (OPTIONS) write(MODERATO_PAUSE, 0);
        uint64_t before;
        do {
            before = wire_frames;
            for (int n = 0; n < 5000; n++) clock();
        } while (wire_frames != before);
    }

    // After a ring's halt or stop: the output was correct and in order; the remaining frames are lost.
    void finish_cut() {
        hit(settings.kind == CUT ? "stopped under traffic" : "halted");
        inward_left = outward_left = 0;
        look_only();
        uint16_t done = tx.consumer;
        stop();
        look_only();
        expect(settings.kind == HALTING || done <= tx.consumer, "completed after the end");
        while (wire.busy) clock();
        settle_tx();
        departures.clear();
        deliveries.clear();
        for (uint32_t offset : COUNTERS) counted(offset);
    }

    std::unique_ptr<Vtop> dut = std::make_unique<Vtop>();
    Random random;
    Memory<Vtop> memory;
    Wire<Vtop> wire;
    Settings settings{};
    Ring rx{RX_RING, MODERATO_RX_BASE}, tx{TX_RING, MODERATO_TX_BASE};
    uint32_t next_buffer = BUFFERS;
    std::map<uint32_t, uint32_t> bad_of, counters;
    std::array<uint32_t, 4096> rx_buffers{};
    struct Job {
        uint32_t address;
        bool error;
    };
    std::array<Job, 4096> tx_jobs{};
    std::deque<Delivery> deliveries;
    std::deque<Octets> departures;
    uint64_t inward_left = 0, outward_left = 0, quiet = 0;
    uint64_t fates[FATES] = {}, skipped = 0, taken = 0, own_frames = 0, wire_frames = 0, total_octets = 0;
    unsigned spoil_memory = 0, spoil_wire = 0;
    uint64_t received = 0, transmitted = 0, clocks = 0, rounds = 0;
    std::map<std::string, uint64_t> bins;
};

int main(int argc, char** argv) {
    if (argc != 3 && argc != 4) return 2;
    Bench bench(strtoull(argv[1], nullptr, 0), argc == 4 ? argv[3] : "");
    bench.run(strtoull(argv[2], nullptr, 0));
    return 0;
}
