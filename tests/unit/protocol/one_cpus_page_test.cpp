// A page of memory that one CPU has at a time: each move of it to another CPU is a record.
#include "abi/layout.hpp"
#include "catch_2_or_3.hpp"
#include "core/one_cpus_page.hpp"
#include "sim/judge.hpp"

using namespace mmioscope;
using namespace mmioscope::sim;

namespace {

constexpr std::uint32_t page = 0x80a0'0000;
constexpr std::uint32_t counter = page + 0x40;
constexpr std::uint32_t stub = page + 0x800;         ///< code there,
constexpr std::uint32_t other_stub = 0x8032'0000;    ///< and the same elsewhere
constexpr std::uint32_t second_level = page + 0xc00; ///< a page table there
constexpr std::uint32_t first_level = 0x8030'0000;
constexpr std::uint32_t window = 0x4000'0000; ///< leads to the fifo
constexpr std::uint32_t ldrex_r1 = 0xe190'1f9f, strex_r4_r1 = 0xe180'4f91, cmp_r4_0 = 0xe354'0000;

/// What is wrong with the client.
enum class Flaw {
    none,
    no_tlbi,   ///< the CPU before is not told to forget its translation
    too_early, ///< the new descriptor is valid before the old one is invalid
    steps,     ///< the page stays in the views of steps
    silent,    ///< no record of the first move
};

class Client final : public OneCpusPage {
public:
    Client(Rig& rig, Flaw flaw) : OneCpusPage(rig.services.integrity, page, 200), flaw_(flaw) {
        rig.list[0] = this;
    }

    unsigned now{nobody}; ///< the CPU that has it; read without time passing

private:
    bool take(Machine& machine, unsigned from, unsigned to) override {
        if (flaw_ == Flaw::too_early && !give(machine, to)) return false;
        if (flaw_ == Flaw::steps)
            return LiveTables(machine, integrity_).map(views_of(from) & normal_views, page_, 0);
        if (flaw_ != Flaw::no_tlbi) return OneCpusPage::take(machine, from, to);
        integrity_.store_sealed(*machine.normal(from).entry(page_), 0);
        return true;
    }
    void record(mmioscope::Cpu& cpu, std::uint32_t move) override {
        now = cpu.number;
        if (flaw_ != Flaw::silent || moves() != 0) OneCpusPage::record(cpu, move);
    }

    Flaw flaw_;
};

RigOptions cpus(unsigned count, std::uint64_t seed) {
    RigOptions options = options_for(
        seed % 2 == 0 ? abi::EngineKind::shadow : abi::EngineKind::emulation, count, seed);
    options.conditions.exceptions_clear_monitor = seed % 3 == 0;
    options.conditions.keeps_old_code = true;
    return options;
}

/// TTBR0, DACR and SCTLR: all is at its place, and the fifo in the window, too, by a table in the
/// page.
void write_tables(Ram& ram) {
    constexpr std::uint32_t section = 0xc02, small_page = 3u << 4 | 2; // full access
    for (const std::uint32_t begin : {0x8000'0000u, 0x1c00'0000u})
        for (std::uint32_t va = begin; va < begin + 0x0200'0000; va += 1 << 20)
            ram.store<std::uint32_t>(first_level + (va >> 20 << 2), va | section);
    ram.store<std::uint32_t>(first_level + (window >> 20 << 2), second_level | 1);
    ram.store<std::uint32_t>(second_level, at::fifo | small_page);
}
void turn_mmu_on(Code& code) {
    code.mov(0, first_level).word(0xee02'0f10).mov(0, 0x5555'5555).word(0xee03'0f10);
    code.mov(0, 0x00c5'0079).word(0xee01'0f10).word(0xf57f'f06f);
}

/// `rounds` of an increment by an exclusive pair, of a word of its own, and of a traced access by
/// code in the page.
void write_user(Rig& rig, unsigned cpu, unsigned rounds) {
    Code code = rig.program(cpu);
    turn_mmu_on(code);
    code.mov(0, counter)
        .mov(5, page + 0x100 * cpu)
        .mov(3, rounds)
        .mov(9, window)
        .mov(7, cpu % 2 == 0 ? stub : other_stub);
    const std::uint32_t loop = code.here();
    code.word(ldrex_r1).add(1, 1, 1).word(strex_r4_r1).word(cmp_r4_0).bne(loop);
    code.ldr(2, 5).add(2, 2, 1).str(2, 5);
    code.add(14, 15, 0).bx(7).subs(3, 3, 1).bne(loop).end(); // LR: behind the BX
}

/// Runs `count` CPUs. What is wrong, or nothing: no CPU has reached the page while it was another
/// one's, no two CPUs have it in their tables, and each move has its record.
std::string judge(unsigned count, std::uint64_t seed, Flaw flaw = Flaw::none) {
    constexpr unsigned rounds = 20;
    Rig rig(cpus(count, seed));
    Client owner(rig, flaw);
    for (const std::uint32_t at : {stub, other_stub})
        Code(rig.simulation.ram, at).ldr(2, 9).ldr_post(6, 9, 0).bx(14);
    write_tables(rig.simulation.ram);
    for (unsigned cpu = 0; cpu < count; ++cpu) write_user(rig, cpu, rounds);
    rig.simulation.speculated.push_back(page);
    std::string wrong;
    rig.simulation.touched = [&](Core& core, std::uint64_t at) {
        if (page_floor(at) == page && core.number != owner.now)
            wrong = "another CPU's page is used";
    };
    rig.simulation.meanwhile = [&](Core&) {
        unsigned having = 0;
        for (unsigned cpu = 0; cpu < count; ++cpu) {
            Machine& machine = *rig.machine;
            having += lpae::is_valid(machine.normal(cpu).lookup(page)) ||
                      lpae::is_valid(machine.shadow(cpu).lookup(page));
        }
        if (having > 1) wrong = "two CPUs have the page";
    };
    rig.run();
    if (!wrong.empty()) return wrong;
    if (!rig.failure().empty()) return rig.failure();
    if (rig.text().find(abi::stop_line) != std::string::npos) return rig.text();
    if (rig.services.integrity.find_damage(false).name != nullptr) return "damage";
    for (unsigned cpu = 0; cpu < count; ++cpu)
        if (rig.machine->normal(cpu).entry(at::fifo) != rig.machine->normal(0).entry(at::fifo))
            return "a device has tables of a CPU's own";
    if (rig.simulation.ram.load<std::uint32_t>(counter) != count * rounds) return "lost increments";
    for (unsigned cpu = 0; cpu < count; ++cpu)
        if (rig.simulation.ram.load<std::uint32_t>(page + 0x100 * cpu) != rounds)
            return "a lost store";
    if (auto e = compare_with_bus(rig); !e.empty()) return e;
    for (const abi::Record& fault : rig.records_of(abi::RecordType::fault))
        return "a fault, reason " + std::to_string(fault.value);
    if (!rig.records_of(abi::RecordType::fetch).empty()) return "a fetch";
    if (rig.bus_log(at::fifo, 4).size() != 2 * count * rounds) return "accesses of a step";
    std::vector<abi::Record> moves = rig.records_of(abi::RecordType::marker);
    std::ranges::sort(moves, {}, &abi::Record::time);
    if (moves.size() != owner.moves()) return "a move without a record";
    unsigned has = OneCpusPage::nobody;
    for (const abi::Record& move : moves) {
        if ((move.value >> 4 & 0xf) != has || move.cpu != (move.value & 0xf)) return "a wrong move";
        has = move.value & 0xf;
    }
    return moves.size() > count ? "" : "no moves";
}

} // namespace

TEST_CASE("a page that one CPU has at a time: each move is a record, and all CPUs get on",
          "[protocol]") {
    for (std::uint64_t seed = 1; seed <= seeds(12); ++seed) {
        CAPTURE(seed);
        REQUIRE(judge(2 + seed % 3, seed) == "");
    }
}

TEST_CASE("a page that two CPUs have is noticed, and a move without a record") {
    const Flaw flaw = GENERATE(Flaw::no_tlbi, Flaw::too_early, Flaw::steps, Flaw::silent);
    CAPTURE(static_cast<int>(flaw));
    bool noticed = false;
    for (std::uint64_t seed = 1; seed <= 60 && !noticed; ++seed) {
        const std::string wrong = judge(2, seed, flaw);
        noticed = flaw == Flaw::silent
                      ? wrong == "a move without a record"
                      : wrong == "another CPU's page is used" || wrong == "two CPUs have the page";
    }
    CHECK(noticed);
}
