#include "storm.hpp"

#include "abi/layout.hpp"
#include "judge.hpp"

namespace mmioscope::sim {

namespace {

constexpr std::uint32_t first_level = 0x8030'0000;
constexpr std::uint32_t second_level = 0x8030'4000;
constexpr std::uint32_t frames = 0x8031'0000;
constexpr std::uint32_t window_base = 0x4000'0000;
constexpr std::uint32_t asid = 7;
constexpr unsigned windows = 8;

constexpr std::uint32_t dsb = 0xf57f'f04f;
constexpr std::uint32_t isb = 0xf57f'f06f;
constexpr std::uint32_t addne_r10_r10_1 = 0x128a'a001;

std::uint32_t window(unsigned n) {
    return window_base + n * 0x1000;
}
std::uint32_t entry_of(unsigned n) {
    return second_level + 4 * n;
}

/// Even windows lead to devices, odd ones to frames; every third is global.
std::uint32_t target(unsigned n) {
    constexpr std::uint32_t devices[] = {at::fifo, at::wide, at::gadget, at::wide + 0x1000};
    return n % 2 == 0 ? devices[n / 2 % 4] : frames + n * 0x1000;
}
std::uint32_t page_descriptor(unsigned n) {
    constexpr std::uint32_t full_access = 3u << 4;
    constexpr std::uint32_t not_global = 1u << 11;
    return target(n) | full_access | 2 | (n % 3 != 0 ? not_global : 0);
}

void write_tables(Ram& ram) {
    constexpr std::uint32_t section = 0xc02; // full access
    for (const std::uint32_t begin : {0x8000'0000u, 0x1c00'0000u})
        for (std::uint32_t i = 0; i < 0x20; ++i) {
            const std::uint32_t va = begin + (i << 20);
            ram.store<std::uint32_t>(first_level + (va >> 20 << 2), va | section);
        }
    ram.store<std::uint32_t>(first_level + (window_base >> 20 << 2), second_level | 1);
    for (unsigned n = 0; n < windows; ++n)
        ram.store<std::uint32_t>(entry_of(n), page_descriptor(n));
}

void turn_mmu_on(Code& code) {
    code.mov(0, first_level).word(0xee02'0f10);                     // TTBR0
    code.mov(0, 0x5555'5555).word(0xee03'0f10);                     // DACR
    code.mov(0, asid).word(0xee0d'0f30);                            // CONTEXTIDR
    code.mov(0, 0x00c5'0079).word(isb).word(0xee01'0f10).word(isb); // SCTLR
}

void use(Code& code, Random& random) {
    const auto n = static_cast<unsigned>(random.below(windows));
    code.mov(0, window(n) + 8 * static_cast<std::uint32_t>(random.below(8)));
    switch (random.below(8)) {
    case 0: code.str(2, 0); break;
    case 1: code.ldrb(1, 0, 1); break;
    case 2: code.strh(2, 0, 2); break;
    case 3: code.ldr_post(1, 0, 4); break;
    case 4: code.str_post(2, 0, 4); break;
    case 5: code.ldrsh(1, 0); break;
    default: code.ldr(1, 0); break;
    }
    // From a device into the next page, which another CPU may have unmapped.
    constexpr unsigned before_frame[] = {2, 6};
    if (random.one_in(4)) code.mov(0, window(before_frame[n % 2]) + 0xffc).ldm(0, 0x000a);
}

/// The guest's debugger, or its power management, has locked the debug registers.
void lock_debug_unit(Code& code, Random& random) {
    if (random.one_in(2)) code.mov(3, 1).word(0xee01'3e93);           // DBGOSDLR
    if (random.one_in(2)) code.mov(3, 0xc5ac'ce55).word(0xee01'3e90); // DBGOSLAR
}

/// Unmaps window `n`, uses its page exclusively, and maps it again.
void unmap(Code& code, Random& random, unsigned n) {
    constexpr std::uint32_t tlbi[] = {0xee08'0f13, 0xee08'0f33, 0xee08'0f53, 0xee08'0f73};
    const bool is_global = n % 3 == 0; // by ASID would keep it
    const auto kind = static_cast<unsigned>(is_global ? random.below(2) : random.below(4));
    const auto token = static_cast<std::uint32_t>(random.next());
    code.mov(4, entry_of(n)).mov(5, 0).str(5, 4).word(dsb);
    code.mov(5, kind == 2 ? asid : window(n) | asid).word(tlbi[kind] | 5u << 12).word(dsb);
    if (n % 2 != 0) { // no other CPU may write to the frame now
        code.mov(6, target(n)).mov(7, token).str(7, 6, 8);
        for (std::uint64_t i = random.below(6); i > 0; --i) code.nop();
        code.ldr(8, 6, 8).word(0xe058'8007).word(addne_r10_r10_1); // subs r8, r8, r7
    }
    code.mov(5, page_descriptor(n)).str(5, 4).word(dsb);
}

} // namespace

void write_storm(Rig& rig, unsigned rounds, std::uint64_t seed) {
    Random random(seed);
    const auto cpus = static_cast<unsigned>(rig.simulation.cores.size());
    write_tables(rig.simulation.ram);
    for (unsigned n = 0; n < windows; ++n) rig.simulation.speculated.push_back(window(n));
    for (unsigned cpu = 0; cpu < cpus; ++cpu) {
        Code code = rig.program(cpu);
        turn_mmu_on(code);
        lock_debug_unit(code, random);
        code.mov(9, 0).mov(10, 0).mov(2, 0x1234'5678).cpsie_aif();
        for (unsigned i = 0; i < rounds; ++i) {
            const auto own = static_cast<unsigned>(random.below(windows / cpus) * cpus + cpu);
            if (random.one_in(3)) unmap(code, random, own);
            else use(code, random);
        }
        code.end();
    }
}

std::string judge_machine(const Rig& rig) {
    if (!rig.failure().empty()) return "machine: " + rig.failure();
    const auto at = rig.text().find(abi::stop_line);
    return at == std::string::npos ? "" : rig.text().substr(at, rig.text().find('\r', at) - at);
}

std::string judge_storm(const Rig& rig) {
    if (auto wrong = judge_machine(rig); !wrong.empty()) return wrong;
    for (unsigned i = 0; i < rig.simulation.cores.size(); ++i) {
        if (!rig.simulation.cores[i].ended) return "progress: a CPU did not come to its end";
        if (rig.reg(i, 10) != 0) return "guest: a frame changed while one CPU had it for itself";
    }
    for (const abi::Record& r : rig.records_of(abi::RecordType::fault)) {
        const abi::FaultReason reason = abi::fault_reason(r.value);
        if (reason == abi::FaultReason::no_progress) return "progress: an access was given up";
        if (reason == abi::FaultReason::lock_not_given_back)
            return "progress: a lock was not given back";
        if (reason != abi::FaultReason::step_ended_abnormally &&
            reason != abi::FaultReason::access_unknown)
            return "progress: an access was refused";
    }
    if (auto wrong = compare_with_bus(rig); !wrong.empty()) return "trace: " + wrong;
    if (auto wrong = check_table_history(rig, all_device_pages(), never_mapped()); !wrong.empty())
        return "tables: " + wrong;
    return "";
}

} // namespace mmioscope::sim
