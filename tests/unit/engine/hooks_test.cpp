// Who sees the accesses to registers: before, with room asked for, in place of the device, and
// behind.
#include "catch_2_or_3.hpp"
#include "engine/record.hpp"
#include "engine/service.hpp"
#include "sim/judge.hpp"

using namespace mmioscope;
using namespace mmioscope::sim;

namespace {

constexpr auto engines = {abi::EngineKind::shadow, abi::EngineKind::emulation};

/// Sees a range from the start on.
class Hooked : public Service, public AccessHooks {
public:
    Hooked(Rig& rig, Range range, unsigned place = 0) : range_(range) { rig.list[place] = this; }

    BootError configure(Machine& machine, Setup&) override {
        return machine.map.hook(range_, *this) ? BootError{} : BootError{"no room", ""};
    }
    std::optional<Outcome> before(mmioscope::Cpu&, Frame&) override {
        ++befores;
        return {};
    }
    void after(mmioscope::Cpu& cpu, Frame&) override {
        ++afters;
        seen.push_back(cpu.trapped.record.value);
    }

    unsigned befores{}, afters{};
    std::vector<std::uint64_t> seen{}; ///< behind

protected:
    Range range_;
};

/// A rule: loads get `value`, stores go nowhere. What Hyp cannot answer is refused.
class Rule final : public Hooked {
public:
    static constexpr std::uint32_t value = 0xc0ff'ee77;
    using Hooked::Hooked;

    std::optional<Outcome> before(mmioscope::Cpu& cpu, Frame& frame) override {
        if (!can_emulate(cpu, frame))
            return refuse(cpu, frame, abi::FaultReason::hypervisor_device);
        const DeviceAccess& access = cpu.trapped.access;
        abi::Record& record = cpu.trapped.record;
        count_access(cpu);
        begin_access(cpu, frame, abi::access_emulated);
        record.duration = static_cast<std::uint32_t>(cpu.ring.complete() - record.time);
        if (!access.write) {
            record.value = bus_value(frame, value, access.log2_size);
            set_guest_register(frame, access.reg, static_cast<std::uint32_t>(record.value));
        }
        cpu.ring.publish(record);
        cpu.ring.finish();
        give_locks_back(cpu, frame);
        return Outcome::done;
    }
};

/// Puts records of its own behind each access to a register.
class Follower final : public Hooked {
public:
    static constexpr unsigned records = 6;
    using Hooked::Hooked;

    std::optional<Outcome> before(mmioscope::Cpu& cpu, Frame&) override {
        ++befores;
        if (asks && !has_room_for(cpu, records)) return Outcome::again;
        return {};
    }
    void after(mmioscope::Cpu& cpu, Frame& frame) override {
        for (unsigned n = 0; n < records; ++n) {
            abi::Record own =
                describe_fault(frame, {n}, cpu.trapped.access.pa, 0, abi::FaultReason::none);
            own.type = abi::RecordType::maintenance;
            own.value = cpu.trapped.record.value;
            cpu.ring.publish_event(own);
        }
    }

    bool asks{true};
};

} // namespace

TEST_CASE("a rule answers a register: its value is the guest's and the record's") {
    Rig rig(options_for(GENERATE(values(engines)), 1, 1));
    Rule rule(rig, {at::wide + 8, at::wide + 12});
    rig.program(0)
        .mov(0, at::wide)
        .mov(1, 5)
        .str(1, 0, 8)
        .ldr(2, 0, 8)
        .ldrb(3, 0, 9)
        .ldr(4, 0, 4) // the device's own
        .cps(0x10)
        .ldr(5, 0, 8)
        .end();
    rig.run();
    REQUIRE(rig.failure() == "");
    CHECK(rig.bus_log(at::wide + 8, 4).empty());
    CHECK(rig.bus_log(at::wide + 4, 4).size() == 1);
    CHECK(rig.reg(0, 2) == Rule::value);
    CHECK(rig.reg(0, 3) == (Rule::value & 0xff));
    CHECK(rig.reg(0, 5) == Rule::value);
    const auto records = rig.records_of(abi::RecordType::access);
    REQUIRE(records.size() == 5);
    CHECK(records[0].value == 5);
    CHECK(records[1].value == Rule::value);
    CHECK(records[2].value == (Rule::value & 0xff));
    CHECK(records[3].value == rig.reg(0, 4));
    CHECK(records[4].value == Rule::value);
    for (std::uint32_t n = 0; n < 5; ++n) CHECK(records[n].lock_sequence == n + 1);
    CHECK(rule.afters == 4);
}

TEST_CASE("what a rule withholds does not happen, and is an abort") {
    Rig rig(options_for(GENERATE(values(engines)), 1, 1));
    Rule rule(rig, {at::wide + 8, at::wide + 12});
    rig.program(0).mov(0, at::wide + 8).mov(9, 0).ldm(0, 6).ldr(3, 0).end();
    rig.run();
    REQUIRE(rig.failure() == "");
    CHECK(rig.bus_log(at::wide, 0x20).empty());
    CHECK(rig.reg(0, 9) == 1); // data aborts
    CHECK(rig.reg(0, 3) == Rule::value);
    CHECK(rig.records_of(abi::RecordType::fault).size() == 1);
}

TEST_CASE("hooks see the value behind each access, in whatever form") {
    Rig rig(options_for(GENERATE(values(engines)), 1, 1));
    Hooked hooked(rig, {at::wide + 8, at::wide + 16});
    rig.program(0)
        .mov(0, at::wide + 8)
        .mov(1, 0x77)
        .str(1, 0)
        .ldr(2, 0)
        .ldr_post(3, 0, 4)
        .ldr(4, 0, 4) // not seen
        .end();
    rig.run();
    REQUIRE(rig.failure() == "");
    CHECK(compare_with_bus(rig) == "");
    CHECK(hooked.befores == 3);
    CHECK(hooked.seen == std::vector<std::uint64_t>{0x77, rig.reg(0, 2), rig.reg(0, 3)});
}

TEST_CASE("each of the hooks that one instruction reaches is called, once") {
    Rig rig(options_for(GENERATE(values(engines)), 1, 1));
    Hooked first(rig, {at::wide + 4, at::wide + 12}, 0);
    Hooked second(rig, {at::wide + 12, at::wide + 16}, 1);
    rig.program(0).mov(0, at::wide).ldm(0, 0x3e).ldm(0, 0x6).stm(0, 0x1e).end();
    rig.run();
    REQUIRE(rig.failure() == "");
    CHECK(compare_with_bus(rig) == "");
    for (const unsigned calls : {first.befores, first.afters}) CHECK(calls == 3);
    for (const unsigned calls : {second.befores, second.afters}) CHECK(calls == 2);
}

TEST_CASE("records that hooks put behind an access have their room before it happens") {
    constexpr unsigned rounds = 800;
    const bool asks = GENERATE(true, false);
    RigOptions options = options_for(GENERATE(values(engines)), 1, 1);
    options.tree.policy = "stall";
    options.tree.area_size = 0x3'2000;
    options.read_when = [](Rig& rig) { // seldom, and only where a group has no room
        const abi::RingHeader& ring = rig.ring(0);
        const std::uint64_t used = ring.head - ring.readers[abi::host_reader].tail;
        return used + Follower::records >= ring.capacity &&
               rig.simulation.scheduler.random().one_in(3000);
    };
    Rig rig(options);
    Follower follower(rig, {at::fifo, at::fifo + 4});
    follower.asks = asks;
    Code code = rig.program(0);
    code.mov(0, at::fifo).mov(3, rounds);
    const std::uint32_t loop = code.here();
    code.ldr(1, 0).subs(3, 3, 1).bne(loop).end();
    rig.run();
    REQUIRE(rig.failure() == "");
    REQUIRE((rig.ring(0).capacity - 1) % (1 + Follower::records) != 0); // else it fills up evenly
    CHECK((rig.ring(0).lost == 0) == asks);
    if (!asks) return;
    CHECK(compare_with_bus(rig) == "");
    CHECK(follower.befores > rounds); // some had to wait
    const auto& records = rig.records(0);
    unsigned groups = 0;
    for (std::size_t n = 0; n < records.size(); ++n) {
        if (records[n].type != abi::RecordType::access) continue;
        ++groups;
        for (unsigned k = 0; k < Follower::records; ++k) {
            REQUIRE(records.at(n + 1 + k).type == abi::RecordType::maintenance);
            CHECK(records[n + 1 + k].value == records[n].value);
            CHECK(records[n + 1 + k].va == k);
        }
    }
    CHECK(groups == rounds);
}
