#include "boot_code.hpp"

#include "arch/control.hpp"
#include "scheduler.hpp"

#include <algorithm>

namespace mmioscope::sim {

namespace {

// `boot_code_base`, `boot_code_words` and `boot_code_symbols`, generated from the linked file.
#include "boot_code.inc"

const LinkedCode boot_code{boot_code_base, boot_code_words, boot_code_symbols};

constexpr unsigned hyp = 0x1a;
constexpr std::uint32_t cached = arch::hsctlr_c; ///< the same bit in SCTLR

// Only the assembly uses these (ARM ARM B4.1, B4.2).
constexpr Encoding clidr = encode32(15, 1, 0, 0, 1), ccsidr = encode32(15, 1, 0, 0, 0),
                   csselr = encode32(15, 2, 0, 0, 0), dccisw = encode32(15, 0, 7, 14, 2),
                   dcimvac = encode32(15, 0, 7, 6, 1), bpiall = encode32(15, 0, 7, 5, 6);

constexpr Encoding encoding_in(std::uint32_t word) {
    return encode32(bits(word, 11, 8), bits(word, 23, 21), bits(word, 19, 16), bits(word, 3, 0),
                    bits(word, 7, 5));
}

} // namespace

BootCode::BootCode(SetWayCaches& caches, Random& random, unsigned mode, std::uint32_t control)
    : ArmCode(boot_code), caches_(caches), mode_(mode) {
    for (std::uint32_t& r : r_) r = static_cast<std::uint32_t>(random.next());
    registers_.set(csselr, random.below(2));
    registers_.set<reg::HTPIDR>(static_cast<std::uint32_t>(random.next()));
    registers_.set(control_register(), control);
    registers_.set<reg::ACTLR>(arch::actlr_smp);
    registers_.set<reg::ID_PFR1>(arch::pfr1_virtualization | arch::pfr1_security);
    registers_.set<reg::MPIDR>(0x8000'0000);
}

std::uint32_t BootCode::symbol(const char* name) {
    return boot_code.symbol(name);
}

Encoding BootCode::control_register() const {
    return mode_ == hyp ? encoding_of<reg::HSCTLR>() : encoding_of<reg::SCTLR>();
}

std::uint32_t BootCode::control() const {
    return static_cast<std::uint32_t>(registers_.get(control_register()));
}

std::uint32_t BootCode::level_selected() const {
    return static_cast<std::uint32_t>(registers_.get(csselr));
}

bool BootCode::starts_afresh() const {
    const Encoding tlb = mode_ == hyp ? encoding_of<reg::TLBIALLH>() : encoding_of<reg::TLBIALL>();
    return maintenance_ == Maintenance::synchronized && (control() & arch::hsctlr_m) == 0 &&
           emptied_ == std::set{tlb, encoding_of<reg::ICIALLU>(), bpiall};
}

unsigned BootCode::run(const char* name, const std::vector<std::uint32_t>& ends) {
    constexpr unsigned step_limit = 10'000'000;
    at_ = symbol(name);
    for (unsigned n = 0; n < step_limit; ++n) {
        step();
        const auto end = std::find(ends.begin(), ends.end(), at_);
        if (end != ends.end()) return static_cast<unsigned>(end - ends.begin());
    }
    throw Failure{"the boot code does not end"};
}

void BootCode::barrier(std::uint32_t word) {
    switch (word) {
    case 0xf10c'01c0: return; // CPSID aif
    case 0xf57f'f01f: return; // CLREX
    case 0xf57f'f04f:         // DSB SY
    case 0xf57f'f04b:         // DSB ISH
        if (maintenance_ == Maintenance::begun) maintenance_ = Maintenance::done;
        return caches_.complete();
    case 0xf57f'f06f: // ISB
        if (maintenance_ == Maintenance::done) maintenance_ = Maintenance::synchronized;
        return registers_.settle();
    default: unknown(word);
    }
}

void BootCode::miscellaneous(std::uint32_t word) {
    constexpr std::uint32_t masked = 0x1c0;
    if ((word & 0x0fff'ffff) == 0x0320'f003) return on_sleep(); // WFI
    if ((word & 0x0fff'0fff) != 0x010f'0000) unknown(word);     // MRS CPSR
    set(bits(word, 15, 12), masked | mode_);
}

std::uint32_t BootCode::read_register(Encoding which) const {
    if (which == clidr) return caches_.clidr();
    if (which == ccsidr) { // of what was selected before the last ISB (B4.1.19)
        if (level_selected() % 2 != 0) throw Failure{"an instruction cache's lines are counted"};
        return caches_.level(level_selected() >> 1).ccsidr();
    }
    if ((which == encoding_of<reg::HSCTLR>()) != (mode_ == hyp) && bits(which, 11, 8) == 1 &&
        bits(which, 7, 0) == 0)
        throw Failure{"the control register of another mode"};
    return static_cast<std::uint32_t>(registers_.read(which));
}

void BootCode::write_register(Encoding which, std::uint32_t value) {
    switch (which) {
    case dccisw:
        if ((control() & cached) != 0) throw Failure{"a level is emptied while lines come in"};
        return caches_.clean(value);
    case dcimvac: return;
    case encoding_of<reg::TLBIALL>():
    case encoding_of<reg::TLBIALLH>():
    case encoding_of<reg::ICIALLU>():
    case bpiall:
        emptied_.insert(which);
        maintenance_ = Maintenance::begun;
        return;
    case encoding_of<reg::ACTLR>():
        if ((value & arch::actlr_smp) == 0 && caches_.dirty(0) != 0)
            throw Failure{"a CPU leaves the coherency domain with dirty lines"};
        break;
    default: break;
    }
    if (which == control_register() && (value & arch::hsctlr_m) == 0 && (control() & 1) != 0 &&
        caches_.dirty(~0u) != 0)
        throw Failure{"the MMU goes off while stores are not in memory"};
    registers_.write(which, value);
}

void BootCode::coprocessor(std::uint32_t word) {
    const unsigned rt = bits(word, 15, 12);
    if (bit_of(word, 20)) set(rt, read_register(encoding_in(word)));
    else write_register(encoding_in(word), get(rt));
}

void BootCode::call(std::uint32_t target) {
    r_[lr] = at_ + 4;
    next_ = target;
}

/// Where caches are on and hold lines, or an access is not aligned while the MMU is off.
void BootCode::check_access(std::uint32_t address, unsigned log2_size) const {
    if (aligned_only && (address & ((1u << log2_size) - 1)) != 0)
        throw Failure{"an alignment fault while the MMU is off"};
    if ((control() & cached) == 0 && caches_.dirty(0) != 0)
        throw Failure{"memory is used while the caches hold it"};
}

std::uint64_t BootCode::load(std::uint32_t address, unsigned log2_size) {
    check_access(address, log2_size);
    const std::uint32_t offset = address - code_.base;
    if (offset / 4 < code_.words.size()) { // a literal
        if (log2_size != 2) throw Failure{"a load of a part of a literal"};
        return code_.words[offset / 4];
    }
    std::uint64_t value = 0;
    for (unsigned n = 0; n < 1u << log2_size; ++n)
        if (const auto byte = memory.find(address + n); byte != memory.end())
            value |= std::uint64_t{byte->second} << (8 * n);
    return value;
}

void BootCode::store(std::uint32_t address, unsigned log2_size, std::uint64_t value) {
    check_access(address, log2_size);
    if ((control() & cached) != 0) caches_.store();
    for (unsigned n = 0; n < 1u << log2_size; ++n)
        memory[address + n] = static_cast<std::uint8_t>(value >> (8 * n));
}

} // namespace mmioscope::sim
