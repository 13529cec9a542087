// One device access, as in the trace and as in the log. Both are small, because a run has millions.
#pragma once

#include <cstdint>
#include <limits>

namespace mmioscope::importing {

/// The kind of a line in QEMU's log.
enum class LineKind : std::uint8_t {
    access,     ///< a device model was called: CPU, value and absolute address are known
    unmodelled, ///< no device model has the address: CPU and value are unknown
    pc,         ///< from the log of PCs: CPU and PC are known, but no value
    rejected,   ///< a model refused size or alignment: no CPU, no value, the address is an offset
};

/// An access in QEMU's log.
struct Line {
    std::uint64_t address;
    std::uint64_t value;
    std::uint32_t number; ///< of the line in the log, from 1
    std::uint32_t pc;     ///< in the log of PCs
    std::uint16_t region; ///< index into AccessLog::regions
    std::int8_t cpu;      ///< -1: not known
    std::uint8_t size;    ///< bytes
    LineKind kind;
    bool write;
    bool widened = false; ///< the size may be the model's instead of the access's
    bool pieces = false;  ///< unaligned accesses are aligned pieces of the same size
};

/// An access in the trace.
struct Event {
    std::uint64_t address;
    std::uint64_t value;
    std::uint64_t time;     ///< CNTPCT
    std::uint32_t duration; ///< ticks
    std::uint32_t lock_sequence;
    std::uint32_t cpu_sequence;
    std::uint32_t pc;
    std::uint32_t number; ///< of the record in the trace, from 1
    std::uint16_t device;
    std::uint8_t cpu;
    std::uint8_t size;  ///< bytes
    std::uint8_t flags; ///< abi::flag_*
    bool write;
    bool own; ///< the hypervisor's own access
    bool value_known;
    bool guest_instruction; ///< the access was made by the guest itself, at `pc`
    bool uncertain;         ///< it need not have reached the bus
    bool walk;              ///< by table walks: any reads in the page at `address`
    bool again;             ///< its instruction took a fault before, an `uncertain` event
};

/// Means "no index".
inline constexpr std::uint32_t nowhere = std::numeric_limits<std::uint32_t>::max();

} // namespace mmioscope::importing
