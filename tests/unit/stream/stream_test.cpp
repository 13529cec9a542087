// The stream, from rings to bytes: whatever the line does, everything that the CPUs published
// arrives in the order of time, and no trap does more than its share of the work.
#include "stream/stream.hpp"

#include "catch_2_or_3.hpp"
#include "sim/simulation.hpp"
#include "trace/ring_writer.hpp"
#include "unit/stream/wire.hpp"

#include <algorithm>
#include <cstdio>

using namespace mmioscope;
using namespace mmioscope::sim;

namespace {

/// Accepts a byte now and then.
struct FakeLine : Line {
    Random random{1};
    unsigned takes_one_in{1}; ///< 0: none
    Bytes taken;

    bool put(std::uint8_t byte) override {
        if (takes_one_in == 0 || random.below(takes_one_in) != 0) return false;
        taken.push_back(byte);
        return true;
    }
};

constexpr unsigned cpus = 3;
constexpr std::uint64_t area_at = 0x8300'0000;
constexpr std::uint64_t kept_at = 0x8310'0000;
constexpr std::uint64_t capacity = 64;

Conditions conditions_of(std::uint64_t seed) {
    constexpr unsigned switches[] = {1, 2, 4};
    constexpr unsigned delays[] = {2, 8, 40};
    Conditions conditions;
    conditions.cpus = cpus;
    conditions.seed = seed;
    conditions.switch_one_in = switches[seed % 3];
    conditions.late_one_in = delays[seed / 3 % 3];
    return conditions;
}

/// CPUs that publish, and serve the stream like traps.
class Streams {
public:
    Streams(std::uint64_t seed, unsigned takes_one_in, bool after_another = false)
        : simulation(conditions_of(seed)) {
        line.random = Random{seed};
        line.takes_one_in = takes_one_in;
        abi::AreaHeader& area = area_of(area_at);
        for (unsigned cpu = 0; cpu < cpus; ++cpu) {
            auto& ring = ring_of(area_at, cpu);
            writers[cpu].start(ring, cpu, capacity, abi::Policy::stall, false);
        }
        if (after_another) fill(area_of(kept_at));
        stream->describe(area, 0);
        stream->start(line, area, 0, after_another ? &area_of(kept_at) : nullptr);
    }

    abi::RingHeader& ring_of(std::uint64_t area, unsigned cpu) {
        return *reinterpret_cast<abi::RingHeader*>(
            simulation.ram.at({area + area_of(area).ring_offset[cpu]}));
    }

    /// Each CPU makes `accesses`; then CPU 0 ends the machine.
    void run(unsigned accesses) {
        for (unsigned cpu = 0; cpu < cpus; ++cpu)
            simulation.scheduler.add([this, cpu, accesses] { publish(cpu, accesses); });
        simulation.scheduler.run();
        REQUIRE(simulation.scheduler.failure() == "");
    }

    Simulation simulation;
    FakeLine line;
    RingWriter writers[cpus];
    std::unique_ptr<Stream> stream = std::make_unique<Stream>();
    std::size_t most_at_once{};
    abi::StreamEnd reason{abi::StreamEnd::machine_off};
    bool idle_between{};                          ///< now and then, and until the end
    std::function<void(unsigned cpu)> behind_end; ///< called by the CPU that has sent the end

private:
    abi::AreaHeader& area_of(std::uint64_t at) {
        abi::AreaHeader& area = *reinterpret_cast<abi::AreaHeader*>(simulation.ram.at({at}));
        area.boot_id[0] = static_cast<std::uint8_t>(at >> 16); // different for each boot
        area.cpu_count = cpus;
        area.counter_frequency = 100'000; // a second is 100,000 points
        area.record_size = sizeof(abi::Record);
        area.region_size = sizeof(abi::RegionEntry);
        area.regions_offset = sizeof(abi::AreaHeader);
        for (unsigned cpu = 0; cpu < cpus; ++cpu) area.ring_offset[cpu] = 0x1'0000 * (cpu + 1);
        return area;
    }

    /// What an earlier boot left; CPU 1 had made few records, CPU 2's 90th is incomplete, and its
    /// last one has the latest time that there is: a guest may have written it.
    void fill(abi::AreaHeader& kept) {
        kept.state = abi::AreaState::panicked;
        for (unsigned cpu = 0; cpu < cpus; ++cpu) {
            abi::RingHeader& ring = ring_of(kept_at, cpu);
            ring.capacity = capacity;
            ring.head = cpu == 1 ? 5 : 100;
            ring.in_flight_pa = 0x1000 + cpu;
            auto* slots = reinterpret_cast<abi::Record*>(&ring + 1);
            for (std::uint64_t at = cpu == 1 ? 0 : 36; at < ring.head; ++at) {
                abi::Record& record = slots[at % capacity];
                record.type = abi::RecordType::access;
                record.cpu = static_cast<std::uint8_t>(cpu);
                record.cpu_sequence = static_cast<std::uint32_t>(at);
                record.time = cpu == 2 && at == 99 ? ~std::uint64_t{0} : 10 * at + cpu;
                record.commit = cpu == 2 && at == 90 ? 0 : static_cast<std::uint32_t>(at + 1);
            }
        }
    }

    void publish(unsigned cpu, unsigned accesses) {
        for (unsigned i = 0; i < accesses; ++i) {
            while (!writers[cpu].has_room(1)) trap(cpu);
            abi::Record record{};
            record.type = abi::RecordType::access;
            record.device = static_cast<std::uint16_t>(cpu);
            record.value = simulation.scheduler.random().next();
            record.time = writers[cpu].begin(i, i);
            writers[cpu].publish(record);
            writers[cpu].finish();
            trap(cpu);
        }
        simulation.complete_system();
        if (++finished_ < cpus) {
            while (idle_between && !over_) idle(cpu);
            return;
        }
        stream->finish(cpu, reason);
        over_ = true;
        if (behind_end) behind_end(cpu);
    }

    void idle(unsigned cpu) {
        (void)stream->work_at_idle(cpu);
        simulation.point();
    }

    void trap(unsigned cpu) {
        if (idle_between && simulation.scheduler.random().one_in(2)) return idle(cpu);
        const std::size_t before = line.taken.size();
        stream->work_a_little(cpu);
        // Only this CPU can have sent meanwhile: the lock stops the others.
        if (cpus_in_trap_++ == 0) most_at_once = std::max(most_at_once, line.taken.size() - before);
        --cpus_in_trap_;
        simulation.point();
    }

    unsigned finished_{};
    bool over_{};
    unsigned cpus_in_trap_{};
};

} // namespace

TEST_CASE("a frame of any bytes comes off the line as it went on", "[stream]") {
    const Simulation simulation{Conditions{}};
    Random random{7};
    for (unsigned size = 1; size < 1200; size += 1 + size / 7) {
        for (unsigned zeros = 1; zeros <= 300; zeros *= 17) {
            Bytes frame(size + 4, 0xee);
            for (unsigned i = 0; i < size; ++i)
                frame[i] =
                    static_cast<std::uint8_t>(random.below(zeros) == 0 ? 0 : 1 + random.below(255));
            const Bytes sent(frame.begin(), frame.begin() + size);
            FakeLine line;
            line.takes_one_in = 1 + size % 3;
            FrameSender sender;
            sender.start(frame.data(), size);
            while (!sender.done()) {
                const auto budget = static_cast<unsigned>(1 + random.below(40));
                REQUIRE(sender.pump(line, budget) <= budget);
            }
            const std::vector<Bytes> frames = frames_on(line.taken);
            REQUIRE(frames.size() == 1);
            REQUIRE(frames[0] == sent);
        }
    }
}

TEST_CASE("all records that CPUs publish arrive, in time order", "[stream][protocol]") {
    for (std::uint64_t seed = 1; seed <= 12; ++seed) {
        CAPTURE(seed);
        Streams streams(seed, 1 + static_cast<unsigned>(seed % 4));
        streams.idle_between = seed % 2 == 0;
        streams.run(150);
        const Arrived all = arrived(streams.line.taken);
        CHECK(all.hellos >= 1);
        CHECK(all.ends == 1);
        REQUIRE(all.records.size() == cpus * 150);
        std::uint32_t next[cpus]{};
        std::uint64_t time = 0;
        for (const abi::Record& record : all.records) {
            REQUIRE(record.time >= time);
            time = record.time;
            REQUIRE(record.cpu_sequence == next[record.cpu]++);
        }
        for (unsigned cpu = 0; cpu < cpus; ++cpu) {
            CHECK(all.end.next_sequence[cpu] == 150);
            const auto other = [cpu](const abi::Record& record) {
                return record.cpu == cpu && record.type != abi::RecordType::access;
            };
            CHECK(all.others[cpu] == std::ranges::count_if(all.records, other));
        }
    }
}

TEST_CASE("a trap sends no more than 64 bytes", "[stream]") {
    Streams streams(3, 1);
    streams.run(300);
    CHECK(streams.most_at_once > 0);
    CHECK(streams.most_at_once <= 64);
}

TEST_CASE("a stalled line makes nobody wait: the end gives up", "[stream]") {
    Streams streams(5, 0);
    const std::uint64_t begun = streams.simulation.now();
    streams.run(20); // less than the rings hold
    CHECK(streams.line.taken.empty());
    CHECK(streams.simulation.now() - begun < 2 * 100'000);
}

TEST_CASE("a CPU that the host stops for a while still sends the end", "[stream]") {
    for (std::uint64_t seed = 0; seed < seeds(30); ++seed) {
        CAPTURE(seed);
        Streams streams(seed, 1 + static_cast<unsigned>(seed % 4));
        streams.simulation.conditions.stopped_one_in = 40;
        streams.simulation.conditions.ticks_of_stop = 15'000; // 150 ms
        streams.run(20);
        const Arrived all = arrived(streams.line.taken);
        CHECK(all.ends == 1);
        CHECK(all.records.size() == cpus * 20);
    }
}

TEST_CASE("behind the end of the machine CPUs wait for it, at most a second", "[stream]") {
    Streams streams(9, 1);
    std::uint64_t waited = 0;
    streams.behind_end = [&](unsigned) {
        const std::uint64_t begun = streams.simulation.now();
        streams.stream->wait_for_machine_end();
        waited = streams.simulation.now() - begun;
    };
    SECTION("that goes off") {
        streams.run(30);
        CHECK(waited > 99'000);
        CHECK(waited < 101'000);
    }
    SECTION("not of a guest that halts") {
        streams.reason = abi::StreamEnd::halted;
        streams.run(30);
        CHECK(waited < 1000);
    }
}

TEST_CASE("records published after the end follow it, with another end", "[stream]") {
    Streams streams(9, 1);
    streams.behind_end = [&streams](unsigned cpu) {
        abi::Record record{};
        record.type = abi::RecordType::access;
        streams.writers[cpu].publish_event(record);
        streams.simulation.complete_system();
        for (unsigned trap = 0; trap < 10; ++trap) // a STREX may fail without a reason
            streams.stream->work_a_little(cpu);
    };
    streams.run(30);
    const Arrived all = arrived(streams.line.taken);
    CHECK(all.ends == 2);
    CHECK(all.records.size() == cpus * 30 + 1);
    const std::uint32_t* next = all.end.next_sequence;
    CHECK(next[0] + next[1] + next[2] == cpus * 30 + 1);
}

TEST_CASE("records kept from the previous boot are sent once, after the description", "[stream]") {
    for (std::uint64_t seed = 0; seed < seeds(20); ++seed) {
        CAPTURE(seed);
        constexpr unsigned each = 120;
        Streams streams(seed, 1 + static_cast<unsigned>(seed % 4), true);
        CHECK(streams.stream->sends_kept());
        streams.run(each);
        CHECK(!streams.stream->sends_kept());
        const Arrived all = arrived(streams.line.taken);
        CHECK(all.order.substr(0, 6) == "hHREHE");
        CHECK(std::count(all.order.begin(), all.order.end(), 'E') == 2);
        CHECK(all.records.size() == cpus * each);
        REQUIRE(all.previous.size() == 64 + 5 + 63);
        for (std::size_t i = 1; i < all.previous.size(); ++i)
            CHECK(all.previous[i - 1].time < all.previous[i].time);
        CHECK(all.previous.back().time == ~std::uint64_t{0});
        REQUIRE(all.at_end.size() == cpus);
        CHECK(all.at_end[1].head == 5);
        CHECK(all.at_end[2].in_flight_pa == 0x1002);
        for (unsigned cpu = 0; cpu < cpus; ++cpu) {
            const abi::Reader& reader = streams.ring_of(kept_at, cpu).readers[abi::drain_reader];
            CHECK(reader.tail + reader.active == 0);
        }
    }
}

TEST_CASE("the description comes again early, ever less often, and before the end", "[stream]") {
    for (std::uint64_t seed = 0; seed < seeds(6); ++seed) {
        CAPTURE(seed);
        Streams streams(seed, 1);
        streams.run(3000);
        const Bytes& wire = streams.line.taken;
        std::vector<std::size_t> hellos; // where they end
        std::size_t at = 0;
        std::size_t bytes = 0; // of all but the first
        for (const Bytes& frame : frames_on(wire)) {
            const std::size_t size = frame.size() + 4; // and at most 17 for COBS and the zero
            at += size;
            if (header_of(frame).type != abi::FrameType::hello) continue;
            if (!hellos.empty()) bytes += size;
            hellos.push_back(at);
        }
        const Arrived all = arrived(wire);
        CHECK(all.order.substr(0, 3) == "hrh");
        CHECK(all.order.substr(all.order.size() - 3) == "rhe");
        REQUIRE(hellos.size() >= 5);
        CHECK(hellos.size() <= 8);
        const std::size_t last = hellos.size() - 2; // then comes the one before the end
        CHECK(hellos[last] - hellos[last - 1] >= 2 * (hellos[1] - hellos[0]));
        CHECK(bytes * 20 <= wire.size());
        CHECK(all.records.size() == cpus * 3000);
    }
}

TEST_CASE("a description is as it was, with fewer bytes, or one more word", "[stream]") {
    Simulation simulation(conditions_of(1));
    auto* area = reinterpret_cast<abi::AreaHeader*>(simulation.ram.at({area_at}));
    area->cpu_count = cpus;
    area->regions_offset = sizeof *area;
    auto* regions = reinterpret_cast<abi::RegionEntry*>(area + 1);
    std::size_t longest = 0;
    for (const unsigned count : {0u, 1u, 40u, unsigned{abi::max_regions}}) {
        for (const bool noise : {false, true}) {
            Random random{count};
            const auto writer = std::make_unique<DescriptionWriter>();
            area->region_count = count;
            for (unsigned n = 0; n < count; ++n) {
                regions[n].base = noise ? random.next() : 0x1c00'0000 + 0x1000 * n;
                regions[n].size = noise ? random.next() : 0x1000;
                char* path = regions[n].path;
                if (noise) // texts, but nothing to learn from
                    for (unsigned i = 0; i + 1 < abi::path_size; ++i)
                        path[i] = static_cast<char>(1 + random.below(255));
                else std::snprintf(path, abi::path_size, "/soc/bus@1c000000/device@%x", n);
            }
            writer->start(*area, 0);
            if (!noise) writer->add_alias("serial0", "/soc/bus@1c000000/device@9");
            writer->pack();
            Bytes sent;
            for (unsigned piece = 0; piece < writer->pieces(); ++piece) {
                std::uint8_t frame[sizeof(abi::HelloHeader) + abi::max_piece];
                const std::size_t size = writer->write_piece(piece, frame);
                sent.insert(sent.end(), frame + sizeof(abi::HelloHeader), frame + size);
            }
            std::uint32_t size = 0;
            std::memcpy(&size, sent.data(), sizeof size);
            Bytes text(sent.begin() + sizeof size, sent.end());
            CHECK(text.size() <= size);
            if (!noise && count >= 40) CHECK(text.size() < size / 3);
            if (text.size() < size) {
                abi::Decoder decoder;
                decoder.start(sent.data() + sizeof size, sent.size() - sizeof size);
                text.assign(size, 0);
                std::make_unique<abi::TextModel>()->code(decoder, text.data(), size);
            }
            abi::Description head;
            std::memcpy(&head, text.data(), sizeof head);
            CHECK(head.region_count == count);
            std::size_t at = sizeof head;
            std::string path;
            for (unsigned n = 0; n < count; ++n) {
                abi::StreamRegion region;
                std::memcpy(&region, text.data() + at, sizeof region);
                at += sizeof region;
                path.resize(region.shared);
                path.append(text.begin() + static_cast<long>(at),
                            text.begin() + static_cast<long>(at + region.rest));
                at += region.rest;
                REQUIRE(region.base == regions[n].base);
                REQUIRE(path == regions[n].path);
            }
            CHECK(at + (noise ? 0 : sizeof "serial0" + sizeof "/soc/bus@1c000000/device@9") ==
                  size);
            longest = std::max<std::size_t>(longest, size);
        }
    }
    CHECK(longest > 30'000);
}
