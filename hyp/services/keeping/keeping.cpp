#include "keeping/keeping.hpp"

#include "engine/engine.hpp"
#include "machine/machine.hpp"
#include "start/setup.hpp"

#include <algorithm>
#include <optional>

namespace mmioscope {

namespace {

/// The bits of a clock controller's register without which its UARTs stop: a clock's gate, or a
/// reset (0: in reset). A UART's node names its bit by a phandle and an id.
struct UartBits {
    const char* compatible; ///< the controller's
    const char* property;   ///< of the UART's node: "clocks" or "resets"
    std::uint32_t first_id; ///< UART 0's; the others' follow
    std::uint32_t offset;   ///< of the register, of 32 bits
    std::uint8_t first_bit; ///< UART 0's; the others' follow
    std::uint8_t uarts;     ///< number of them
};

// Allwinner H3 Datasheet 1.2, 4.3.5: BUS_CLK_GATING_REG3, BUS_SOFT_RST_REG4. The ids are Linux'
// CLK_BUS_UART0 and RST_BUS_UART0 (include/dt-bindings, sun8i-h3-ccu.h).
constexpr UartBits uart_bits[] = {
    {"allwinner,sun8i-h3-ccu", "clocks", 62, 0x06c, 16, 4},
    {"allwinner,sun8i-h3-ccu", "resets", 49, 0x2d8, 16, 4},
};

/// Where the node with `phandle` begins, if it is compatible with `with` and has `size` bytes.
std::optional<PhysicalAddress> registers_of(const Tree& tree, std::uint32_t phandle,
                                            const char* with, std::uint32_t size) {
    Range range;
    for (int node = 0; node < tree.count(); ++node)
        if (tree.compatible(node, {with}) && tree.cell(node, "phandle", 0) == phandle &&
            tree.reg(node, 0, range) && range.size() >= size)
            return PhysicalAddress{range.begin};
    return {};
}

/// The bit of `uart` in the register that `row` describes; nothing: it has none there.
std::optional<KeptBit> bit_of(const Tree& tree, int uart, const UartBits& row) {
    const Property named = tree.property(uart, row.property); // a phandle and an id
    if (named.size != 8 || named.cell(1) - row.first_id >= row.uarts) return {};
    const auto begin = registers_of(tree, named.cell(0), row.compatible, row.offset + 4);
    if (!begin) return {};
    const std::uint32_t bit = row.first_bit + named.cell(1) - row.first_id;
    return KeptBit{*begin + row.offset, 0, static_cast<std::uint8_t>(bit)};
}

/// `kept` in what the access stores, if it clears it; 0: it does not.
std::uint64_t cleared(const Trapped& trapped, const Frame& frame, const KeptBit& kept) {
    for (unsigned n = 0; n < trapped.access.beats; ++n) {
        const Beat beat = trapped.beat(n);
        const std::uint64_t at = 8 * (kept.address.value - beat.pa.value) + kept.bit;
        if (!beat.write || at >= 8u << beat.log2_size) continue;
        const std::uint64_t bit = std::uint64_t{1} << at;
        if ((bus_value(frame, beat.value, beat.log2_size) & bit) == 0) return bit;
    }
    return 0;
}

bool clears_any(const KeptBits& bits, const Trapped& trapped, const Frame& frame) {
    return std::ranges::any_of(
        bits, [&](const KeptBit& kept) { return cleared(trapped, frame, kept) != 0; });
}

void tell(Cpu& cpu, const Frame& frame, const KeptBit& kept, abi::FaultReason what) {
    const DeviceAccess& access = cpu.trapped.access;
    abi::Record record =
        describe_fault(frame, access.va, kept.address, abi::encode_access(true, 2), what);
    record.device = access.span->region;
    record.value = abi::uart_fault_value(what, kept.region);
    cpu.ring.publish_event(record);
}

} // namespace

// The baseline keeps nothing.
std::optional<Outcome> Keeping::before(Cpu& cpu, Frame& frame) {
    DeviceAccess& access = cpu.trapped.access;
    if (!access.decoded || cpu.machine->config.engine == abi::EngineKind::unprotect ||
        !clears_any(bits_, cpu.trapped, frame))
        return {};

    if (!has_room_for(cpu, 2 * bits_.size())) return Outcome::again;
    const bool keeps = can_emulate(cpu, frame);
    for (const KeptBit& kept : bits_) {
        const std::uint64_t bit = cleared(cpu.trapped, frame, kept);
        if (bit == 0 || (cpu.bus.read(kept.address) >> kept.bit & 1) == 0) continue;
        tell(cpu, frame, kept,
             keeps ? abi::FaultReason::uart_kept : abi::FaultReason::uart_stopped);
        if (keeps) access.value |= static_cast<std::uint32_t>(bit);
    }
    if (!keeps) return {};
    count_access(cpu);
    return emulate(cpu, frame);
}

BootError Keeping::configure(Machine& machine, Setup& setup) {
    const Tree& tree = setup.tree;
    for (const int uart : setup.withheld_nodes) {
        Range range;
        const Span* span = tree.reg(uart, 0, range) ? machine.map.find({range.begin}) : nullptr;
        if (span == nullptr) continue;
        const std::uint16_t region = span->region;
        for (const UartBits& row : uart_bits) {
            auto kept = bit_of(tree, uart, row);
            if (!kept) continue;
            kept->region = region;
            const std::uint64_t address = kept->address.value;
            if (!bits_.push_back(*kept) || !machine.map.hook({address, address + 4}, *this))
                return {"too many devices for the region map", ""};
        }
    }
    return {};
}

} // namespace mmioscope
