// Memory that moves, and code that changes, while other CPUs use it.
#include "abi/layout.hpp"
#include "catch_2_or_3.hpp"
#include "changing/live_tables.hpp"
#include "engine/service.hpp"
#include "port/device.hpp"
#include "port/memory.hpp"
#include "sim/judge.hpp"

#include <cstring>

using namespace mmioscope;
using namespace mmioscope::sim;

namespace {

constexpr std::uint32_t bell = 0x8060'0000;      ///< a page of memory that its owner answers
constexpr std::uint32_t moving = 0x80a0'0000;    ///< a page that moves, in a block of its own,
constexpr std::uint32_t frames[] = {0x80a0'0000, ///< between these
                                    0x80a1'0000};

/// A guest's store to the bell moves the page to its other frame.
class Mover final : public Service, public OwnerOps {
public:
    explicit Mover(Rig& rig) : rig_(rig) { rig.list[0] = this; }

    BootError configure(Machine& machine, Setup&) override {
        machine.memory = MemoryOf::all_cpus;
        return {};
    }
    BootError start(Machine& machine, const Setup&) override {
        if (auto e = LiveTables::objection(machine, 8)) return e;
        LiveTables tables(machine, rig_.services.integrity);
        const bool room = tables.map(normal_views, bell, 0) && machine.give_page(bell, *this);
        return room ? BootError{} : BootError{"no room", ""};
    }
    Outcome access(mmioscope::Cpu& cpu, Frame&, abi::FaultReason) override {
        if (!begin_quiet(cpu)) return Outcome::again;
        Machine& machine = *cpu.machine;
        const unsigned left = machine.pool.left();
        LiveTables tables(machine, rig_.services.integrity);
        // Code moves in the normal view only, so nothing comes behind the end of its old place.
        const ViewSet views = bump != 0 ? normal_views : every_view;
        const bool changed = tables.map(views, moving, 0); // nobody writes there
        const auto* from = port::memory_at<const std::uint32_t>({frames[at_]});
        at_ = 1 - at_;
        auto* to = port::memory_at<std::uint32_t>({frames[at_]});
        for (unsigned n = 0; n < 16; ++n) to[n] = from[n] + (n == 1 || n == 3 ? bump : 0);
        const auto leaf = lpae::make_leaf(frames[at_], lpae::guest_memory, lpae::last_level);
        done += changed && tables.map(views, moving, leaf);
        split |= machine.normal(0).entry(moving) != nullptr;
        if (at_ == 0) tables.join(moving);
        joined |= machine.normal(0).entry(moving) == nullptr;
        used += left - machine.pool.left();
        end_quiet(cpu);
        return Outcome::done;
    }

    unsigned done{};        ///< moves
    bool split{}, joined{}; ///< the page had an entry of its own, and has none
    unsigned used{};        ///< tables
    std::uint32_t bump{};   ///< is added to words 1 and 3 at each move

private:
    Rig& rig_;
    unsigned at_{};
};

RigOptions two_cpus(std::uint64_t seed) {
    RigOptions options =
        options_for(seed % 2 == 0 ? abi::EngineKind::shadow : abi::EngineKind::emulation, 2, seed);
    options.conditions.keeps_old_code = true;
    options.conditions.late_one_in = seed % 3 == 0 ? 400 : 40;
    options.conditions.code_dropped_one_in = seed % 2 == 0 ? 4 : 60;
    return options;
}

/// CPU 0 rings `times` times, and traces an access before each.
void write_ringer(Code code, unsigned times) {
    code.mov(0, bell).mov(1, at::fifo).mov(3, times);
    const std::uint32_t loop = code.here();
    code.ldr(2, 1).str(2, 0).subs(3, 3, 1).bne(loop).end();
}

} // namespace

TEST_CASE("memory that moves while another CPU writes there loses nothing", "[protocol]") {
    constexpr unsigned rounds = 150;
    for (std::uint64_t seed = 1; seed <= seeds(8); ++seed) {
        CAPTURE(seed);
        Rig rig(two_cpus(seed));
        Mover mover(rig);
        rig.simulation.speculated.push_back(moving);
        write_ringer(rig.program(0), 6);
        Code code = rig.program(1);
        code.mov(0, moving).mov(1, at::fifo).mov(3, rounds).mov(4, 0);
        const std::uint32_t loop = code.here();
        code.ldr(2, 0, 8).add(2, 2, 1).str(2, 0, 8); // one writer
        code.ldr(5, 1).subs(3, 3, 1).bne(loop).ldr(4, 0, 8).end();
        rig.run();
        REQUIRE(rig.failure() == "");
        REQUIRE(rig.text().find(abi::stop_line) == std::string::npos);
        REQUIRE(rig.services.integrity.find_damage(false).name == nullptr);
        CHECK(rig.reg(1, 4) == rounds);
        CHECK(mover.done == 6);
        CHECK(mover.split);
        CHECK(mover.joined);
        CHECK(mover.used == 1); // of all views
        CHECK(compare_with_bus(rig) == "");
        CHECK(rig.records_of(abi::RecordType::fault).empty());
    }
}

TEST_CASE("code in memory that moves changes for the CPU that runs it, once and for all",
          "[protocol]") {
    constexpr unsigned moves = 20;
    for (std::uint64_t seed = 1; seed <= seeds(200); ++seed) {
        CAPTURE(seed);
        Rig rig(two_cpus(seed));
        Mover mover(rig);
        mover.bump = 1; // MOVW r2, #n becomes MOVW r2, #n+1, and so does that of r3
        rig.simulation.speculated.push_back(moving);
        constexpr std::uint32_t flag = 0x80c0'0000; // how many moves have ended
        Code ringer = rig.program(0);
        ringer.mov(0, bell).mov(1, at::fifo).mov(3, 0).mov(9, flag);
        const std::uint32_t next = ringer.here();
        ringer.ldr(2, 1).str(2, 0).add(3, 3, 1).str(3, 9).word(0xe353'0000 | moves).bne(next).end();
        // r6 counts how often the code was older than that of a move that had ended, than its own
        // beginning, or than before.
        Code start = rig.program(1);
        const std::uint32_t end = start.here() + 0x100;
        start.mov(4, 0).mov(6, 0).mov(7, 1).mov(8, end).mov(9, flag).mov(12, moving).bx(12);
        Code(rig.simulation.ram, end).end();
        Code code(rig.simulation.ram, moving);
        code.ldr(10, 9).movw(2, 0).word(0xe320'f000).movw(3, 0); // with a NOP
        code.word(0xe152'000a).word(0x3086'6007);                // CMP r2, r10; ADDLO r6, r6, r7
        code.word(0xe153'0002).word(0x3086'6007);                // CMP r3, r2
        code.word(0xe152'0004).word(0x3086'6007);                // CMP r2, r4
        code.word(0xe1a0'4003).word(0xe352'0000 | moves);        // MOV r4, r3; CMP r2, #moves
        code.bne(moving).bx(8);
        rig.run();
        REQUIRE(rig.failure() == "");
        REQUIRE(rig.text().find(abi::stop_line) == std::string::npos);
        REQUIRE(rig.services.integrity.find_damage(false).name == nullptr);
        CHECK(rig.reg(1, 6) == 0);
        CHECK(mover.done == moves);
        CHECK(rig.records_of(abi::RecordType::fetch).empty());
    }
}

namespace {

constexpr std::uint32_t probed = 8;          ///< offset of the instruction
constexpr std::uint32_t hvc_7 = 0xe140'0077; ///< in its place

/// What is wrong with the client.
enum class Flaw {
    none,
    not_clean, ///< caches may have what was there before its own stores
    valid,     ///< the copy changes while CPUs execute it
    no_tlbi,   ///< ... or may still execute it
    steps,     ///< steps have the page itself: then a cache may have that for all
};

/// A page of the guest's code with a private copy, which it executes in place of the page, and may
/// not write: the probed instruction is HVC #7 there.
class Probe final : public Service, public OwnerOps, public CallOps {
public:
    explicit Probe(Rig& rig, Flaw flaw = Flaw::none)
        : rig_(rig), flaw_(flaw), views_(flaw == Flaw::steps ? normal_views : every_view) {
        rig.list[0] = this;
    }

    BootError configure(Machine& machine, Setup&) override {
        machine.memory = MemoryOf::all_cpus;
        return {};
    }
    BootError start(Machine& machine, const Setup&) override {
        if (auto e = LiveTables::objection(machine, 8)) return e;
        LiveTables tables(machine, rig_.services.integrity);
        Ram& ram = rig_.simulation.ram;
        std::memcpy(ram.at({frames[1]}), ram.at({frames[0]}), page_size);
        ram.store<std::uint32_t>(frames[1] + probed, hvc_7);
        const bool done = tables.map(views_, moving, copy) && machine.give_page(moving, *this) &&
                          machine.calls.push_back({psci::Conduit::hvc, 7, this});
        return done ? BootError{} : BootError{"no room", ""};
    }
    /// The instruction in whose place the HVC is: MOVW r2, #n.
    Outcome call(mmioscope::Cpu&, Frame& frame) override {
        ++calls;
        const auto at = PhysicalAddress{frames[0] + probed};
        frame.r[2] = *port::memory_at<const std::uint32_t>(at) & 0xfff;
        return Outcome::done;
    }
    /// A store: to the page itself, and to its copy, whose HVC stays.
    Outcome access(mmioscope::Cpu& cpu, Frame&, abi::FaultReason) override {
        const DeviceAccess& access = cpu.trapped.access;
        if (!access.write) return Outcome::again; // while the page changes
        if (!begin_quiet(cpu)) return Outcome::again;
        Machine& machine = *cpu.machine;
        ++stores;
        wrong += !access.syndrome || page_floor(access.pa.value) != moving;
        const std::uint32_t offset = access.pa.value % page_size;
        store(frames[0] + offset, access.value);
        LiveTables tables(machine, rig_.services.integrity);
        if (flaw_ == Flaw::no_tlbi)
            rig_.services.integrity.store_sealed(*machine.normal(0).entry(moving), 0);
        bool done = flaw_ == Flaw::valid || tables.map(views_, moving, 0);
        if (offset != probed) store(frames[1] + offset, access.value);
        done &= tables.map(views_, moving, copy);
        wrong += !done;
        end_quiet(cpu);
        return Outcome::done;
    }
    /// While the page changes.
    Outcome fetch(mmioscope::Cpu&, Frame&, VirtualAddress, PhysicalAddress, bool) override {
        return Outcome::again;
    }

    unsigned calls{}, stores{}, wrong{};

private:
    /// Hyp maps the guest's memory Non-cacheable; the guest's caches may have the line.
    void store(std::uint32_t at, std::uint32_t value) {
        port::flush_to_coherency({at}, sizeof value);
        port::device_write({at}, 2, value);
        if (flaw_ != Flaw::not_clean) port::flush_to_coherency({at}, sizeof value);
    }

    static constexpr auto copy = lpae::make_leaf(frames[1], lpae::step_page, lpae::last_level);
    Rig& rig_;
    Flaw flaw_;
    ViewSet views_;
};

/// CPU 0 patches two instructions again and again, and says how often it has; CPU 1 executes them.
std::string run_patched(std::uint64_t seed, Flaw flaw = Flaw::none) {
    constexpr unsigned patches = 12;
    constexpr std::uint32_t movw_r2 = 0xe300'2000, movw_r3 = 0xe300'3000;
    constexpr std::uint32_t flag = 0x80c0'0000;
    Rig rig(two_cpus(seed));
    Probe probe(rig, flaw);
    rig.simulation.speculated.push_back(moving);
    Code patch = rig.program(0);
    patch.mov(0, moving).mov(1, at::fifo).mov(2, movw_r2).mov(4, movw_r3).mov(9, flag).mov(5, 0);
    for (unsigned n = 1; n <= patches; ++n)
        patch.ldr(3, 1)
            .add(2, 2, 1)
            .add(4, 4, 1)
            .str(2, 0, probed)
            .str(4, 0, probed + 4)
            .add(5, 5, 1)
            .str(5, 9);
    patch.end();
    // r6: how often an instruction was older than the patch of which the flag tells, or than one
    // that was executed before it.
    Code start = rig.program(1);
    const std::uint32_t back = start.here() + 0x100;
    start.mov(3, 0).mov(4, 0).mov(6, 0).mov(7, 1).mov(8, back).mov(9, flag).mov(11, 0);
    start.mov(1, at::fifo).mov(12, moving).bx(12);
    // The first one is stepped, next to the HVC.
    Code(rig.simulation.ram, moving).ldr(10, 9).ldr(5, 1).word(movw_r2).word(movw_r3).bx(8);
    Code loop(rig.simulation.ram, back);
    loop.add(11, 11, 1);
    for (const unsigned reg : {2u, 3u}) {
        loop.word(0xe150'000a | reg << 16).word(0x3086'6007); // CMP reg, r10; ADDLO r6, r6, r7
        loop.word(0xe150'0004 | reg << 16).word(0x3086'6007); // CMP reg, r4
    }
    loop.word(0xe1a0'4003).word(0xe353'0000 | patches); // MOV r4, r3; CMP r3, #patches
    loop.word(0x112f'ff1c).end();                       // BXNE r12
    rig.run();
    if (!rig.failure().empty()) return rig.failure();
    if (rig.text().find(abi::stop_line) != std::string::npos) return rig.text();
    if (rig.services.integrity.find_damage(false).name != nullptr) return "damage";
    if (!rig.records_of(abi::RecordType::fault).empty()) return "a fault";
    if (probe.wrong != 0 || probe.stores != 2 * patches) return "wrong stores";
    if (probe.calls != rig.reg(1, 11)) return "an instruction without its HVC";
    if (rig.reg(1, 6) != 0) return "an old instruction";
    return compare_with_bus(rig);
}

} // namespace

TEST_CASE("a page of code with a private copy: HVC in it, and stores to it, are its owner's, while "
          "another CPU executes it",
          "[protocol]") {
    for (std::uint64_t seed = 1; seed <= seeds(40); ++seed) {
        CAPTURE(seed);
        REQUIRE(run_patched(seed) == "");
    }
}

TEST_CASE(
    "a private copy that is not clean, valid while it changes, or not in the steps' views, is "
    "noticed") {
    const auto [flaw, what] = GENERATE(table<Flaw, std::string>(
        {{Flaw::not_clean, "the guest executes a line of before Hyp's store"},
         {Flaw::valid, "an old instruction"},
         {Flaw::no_tlbi, "an old instruction"},
         {Flaw::steps, "an instruction without its HVC"}}));
    CAPTURE(what);
    std::string noticed;
    for (std::uint64_t seed = 1; seed <= 40 && noticed != what; ++seed)
        if (const std::string wrong = run_patched(seed, flaw); !wrong.empty()) noticed = wrong;
    CHECK(noticed == what);
}

TEST_CASE("a call that nobody answers is an undefined instruction") {
    Rig rig(two_cpus(1));
    Probe probe(rig);
    Code(rig.simulation.ram, moving + probed).word(0).end();
    rig.program(1).end();
    rig.program(0).mov(10, 0).word(0xe140'0078).hvc().word(0xe140'0077).end(); // #8, #0, #7
    rig.run();
    REQUIRE(rig.failure() == "");
    CHECK(rig.reg(0, 10) == 2);
    CHECK(probe.calls == 1);
}

namespace {
/// What a machine says whose memory cannot change as a service wants it.
std::string refusal(const RigOptions& options, unsigned tables = 1) {
    struct Wants final : Service {
        explicit Wants(unsigned n) : tables(n) {}
        BootError configure(Machine& machine, Setup&) override {
            machine.memory = MemoryOf::all_cpus;
            return {};
        }
        BootError start(Machine& machine, const Setup&) override {
            return LiveTables::objection(machine, tables);
        }
        unsigned tables;
    };
    Rig rig(options);
    Wants wants(tables);
    rig.list[0] = &wants;
    rig.run();
    REQUIRE(rig.failure() == "");
    const std::string text = rig.text();
    const std::size_t at = text.find(abi::stop_line);
    return at == std::string::npos ? "" : text.substr(at + std::strlen(abi::stop_line));
}
} // namespace

TEST_CASE("where memory cannot change while the guest runs, a sentence at the start says why") {
    const auto starts = [](const std::string& text, const char* with) {
        CAPTURE(text);
        CHECK(text.rfind(with, 0) == 0);
    };
    const std::string cannot = "memory cannot change while the guest runs: ";
    RigOptions options = options_for(abi::EngineKind::emulation, 1, 1);
    CHECK(refusal(options) == "");
    starts(refusal(options, 10'000), "not enough room for the tables of memory that changes");
    RigOptions erratum = options;
    erratum.conditions.mistakes_thumb_stores = true; // Cortex-A15 r0p4
    starts(refusal(erratum), (cannot + "a CPU has Cortex-A15 erratum 798181").c_str());
    RigOptions steps = options;
    steps.tree.no_breakpoints = true;
    starts(refusal(steps), (cannot + "without breakpoints").c_str());
    starts(refusal(options_for(abi::EngineKind::unprotect, 1, 1)),
           (cannot + "engine unprotect").c_str());
}
