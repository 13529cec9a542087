// VFP and NEON loads and stores, SWP and exclusives, as far as the tests use them (ARM ARM A7.6,
// A7.7, A8.8.229, A3.4).
#include "guest_cpu.hpp"

namespace mmioscope::sim {

/// `count` consecutive accesses, from byte `first` of the register file on.
GuestCpu::Effect GuestCpu::transfer_vector(bool is_load, std::uint32_t address, unsigned first,
                                           unsigned count, unsigned log2_size) {
    auto* bytes = reinterpret_cast<std::byte*>(core_.vector.data()) + first;
    const unsigned size = 1u << log2_size;
    for (unsigned n = 0; n < count; ++n) {
        std::uint32_t value = 0;
        if (!is_load) std::memcpy(&value, bytes + n * size, size);
        if (is_load ? !load(address + n * size, log2_size, {}, value)
                    : !store(address + n * size, log2_size, {}, value))
            return Effect::trapped;
        if (is_load) std::memcpy(bytes + n * size, &value, size);
    }
    return Effect::next;
}

/// VLDR, VSTR, VLDM and VSTM of both sizes.
GuestCpu::Effect GuestCpu::vfp_load_store(std::uint32_t word) {
    const bool doubles = is_set(word, 8);
    const unsigned vd = field(word, 15, 12);
    const unsigned d = field(word, 22, 22);
    const unsigned first = doubles ? 8 * (16 * d + vd) : 4 * (2 * vd + d);
    const unsigned base = field(word, 19, 16);
    const bool one = is_set(word, 24) && !is_set(word, 21);
    const std::uint32_t offset = 4 * field(word, 7, 0);
    const std::uint32_t moved = is_set(word, 23) ? get(base) + offset : get(base) - offset;
    const unsigned count = one ? (doubles ? 2 : 1) : field(word, 7, 0);
    const Effect effect =
        transfer_vector(is_set(word, 20), is_set(word, 24) ? moved : get(base), first, count, 2);
    if (effect == Effect::next && is_set(word, 21)) set(base, moved);
    return effect;
}

/// VLD1 and VST1 of one whole register, with or without "!"; of a lane, without. A whole register
/// is moved by words, as in QEMU.
GuestCpu::Effect GuestCpu::structure_load_store(std::uint32_t word) {
    const unsigned d = 16 * field(word, 22, 22) + field(word, 15, 12);
    const unsigned base = field(word, 19, 16);
    const bool load = is_set(word, 21);
    const unsigned lane_size = field(word, 11, 10);
    if (is_set(word, 23))
        return transfer_vector(load, get(base),
                               8 * d + (field(word, 7, 5 + lane_size) << lane_size), 1, lane_size);
    if (field(word, 11, 8) != 7) throw Failure{"a NEON form that is not simulated"};
    const Effect effect = transfer_vector(load, get(base), 8 * d, 2, 2);
    if (effect == Effect::next && field(word, 3, 0) == 13) set(base, get(base) + 8);
    return effect;
}

GuestCpu::Effect GuestCpu::swap(std::uint32_t word) {
    const unsigned log2_size = is_set(word, 22) ? 0 : 2;
    const std::uint32_t address = get(field(word, 19, 16));
    const std::uint32_t stored = get(field(word, 3, 0));
    std::uint32_t value = 0;
    if (!load(address, log2_size, {}, value) || !store(address, log2_size, {}, stored))
        return Effect::trapped;
    set(field(word, 15, 12), value);
    return Effect::next;
}

/// LDREX, STREX and similar. It is IMPLEMENTATION DEFINED (A8.8.212), and therefore a condition
/// here, whether a store traps for its address before the monitor is checked. If the monitor is
/// checked first and the load's trap has cleared it, the store does not trap.
GuestCpu::Effect GuestCpu::exclusive(std::uint32_t word) {
    constexpr unsigned sizes[4] = {2, 3, 0, 1};
    const bool load = is_set(word, 20);
    return exclusive_access({.load = load,
                             .size = sizes[field(word, 22, 21)],
                             .reg = load ? field(word, 15, 12) : field(word, 3, 0),
                             .status = field(word, 15, 12),
                             .address = get(field(word, 19, 16))});
}

/// LDREX and STREX in Thumb state. Of two words, the second register is the next one.
GuestCpu::Effect GuestCpu::exclusive_thumb(std::uint32_t word) {
    if (is_set(word, 23)) // of a byte, a halfword or two words
        return exclusive_access({.load = is_set(word, 20),
                                 .size = field(word, 5, 4),
                                 .reg = field(word, 15, 12),
                                 .status = field(word, 3, 0),
                                 .address = get(field(word, 19, 16))});
    return exclusive_access({.load = is_set(word, 20),
                             .size = 2,
                             .reg = field(word, 15, 12),
                             .status = field(word, 11, 8),
                             .address = get(field(word, 19, 16)) + 4 * field(word, 7, 0)});
}

/// Exclusives are aligned, in any memory (A3.2.1), to all of their bytes. Nothing is translated
/// before that.
GuestCpu::Effect GuestCpu::misaligned(std::uint32_t address, bool write) {
    constexpr std::uint32_t alignment_fault = 1;
    native_data_abort(address, alignment_fault, write);
    return Effect::trapped;
}

GuestCpu::Effect GuestCpu::exclusive_access(const Exclusive& what) {
    const unsigned words = what.size == 3 ? 2 : 1;
    const unsigned log2_size = what.size == 3 ? 2 : what.size;
    const std::uint32_t address = what.address;
    const unsigned rt = what.reg;
    std::uint32_t values[2]{};
    const bool aligned = address % (1u << what.size) == 0;
    if (what.load) {
        if (!aligned) return misaligned(address, false);
        for (unsigned n = 0; n < words; ++n)
            if (!load(address + 4 * n, log2_size, {}, values[n])) return Effect::trapped;
        for (unsigned n = 0; n < words; ++n) set(rt + n, values[n]);
        core_.monitor = true;
        core_.monitor_address = address;
        return Effect::next;
    }
    const bool reserved = core_.monitor && core_.monitor_address == address;
    if (sim_.conditions.monitor_asked_first && !reserved) {
        core_.monitor = false;
        set(what.status, 1);
        return Effect::next;
    }
    if (!aligned) return misaligned(address, true);
    const Route route = translate(address);
    if (route.stop != Route::Stop::none || !route.leaf.writable()) {
        stopped_access(address, route, true, {}, log2_size);
        return Effect::trapped;
    }
    bool made = true, kept = reserved;
    for (unsigned n = 0; made && kept && n < words; ++n) {
        core_.stores_exclusive = n == 0;
        made = store(address + 4 * n, log2_size, {}, get(rt + n));
        core_.stores_exclusive = false;
        if (n == 0) kept = core_.monitor;
    }
    core_.monitor = false;
    if (!made) return Effect::trapped;
    set(what.status, kept ? 0 : 1);
    return Effect::next;
}

} // namespace mmioscope::sim
