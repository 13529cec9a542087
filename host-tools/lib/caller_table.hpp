// Section `callers` of a trace file: where the function that made an access returns to, where that
// is not what LR says. Payload: CallerEntry[], those of one CPU in its order.
//
// It stands right in front of the section of records that it is for, and is for no other. Records
// that no entry is of have the caller that LR tells.
#pragma once

#include "abi/container.hpp"
#include "abi/record.hpp"

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace mmioscope::trace {

inline constexpr abi::SectionType callers_section{15};

/// The guest ran code of its kernel: records that no instruction of the guest made have no mode,
/// and the hypervisor's own accesses are of its code.
constexpr bool in_kernel(const abi::Record& record) {
    constexpr unsigned mode_bits = 0x1f; // CPSR.M (ARM ARM B1.3.1)
    constexpr unsigned user = 0x10;
    const unsigned mode = record.mode & mode_bits;
    return mode != 0 && mode != user && record.type != abi::RecordType::own;
}

/// Some records of one CPU, one behind the other.
struct CallerEntry {
    std::uint32_t cpu;
    std::uint32_t first_sequence; ///< cpu_sequence of the first one
    std::uint32_t count;          ///< how many; cpu_sequence does not begin anew among them
    std::uint32_t caller; ///< the return address, as LR has it; 0: LR is none, and none is known
};
static_assert(sizeof(CallerEntry) == 16);

/// Makes the entries of a section, of records in the order of their CPUs.
class CallerRuns {
public:
    void add(const abi::Record& record, std::uint32_t caller);
    void clear();

    std::span<const CallerEntry> entries() const { return entries_; }

private:
    static constexpr std::uint32_t none = 0xffff'ffff;

    std::vector<CallerEntry> entries_;
    std::vector<std::uint32_t> last_ = std::vector<std::uint32_t>(256, none); ///< of each CPU
};

class CallerTable {
public:
    /// Takes one section, and forgets the one before.
    void assign(std::span<const std::byte> payload);
    void clear() { entries_.clear(); }

    /// What takes the place of the LR of `record`; nothing: that holds.
    std::optional<std::uint32_t> of(const abi::Record& record) const {
        if (entries_.empty()) {
            return std::nullopt;
        }
        // Records of a CPU come in their order, so mostly it is as for the one before.
        Last& last = last_[record.cpu];
        std::uint32_t into = record.cpu_sequence - last.first;
        if (into >= last.span) {
            find(last, record);
            into = record.cpu_sequence - last.first;
        }
        return into < last.count ? std::optional(last.caller) : std::nullopt;
    }

private:
    mutable std::vector<CallerEntry> entries_;
    mutable std::vector<CallerEntry> parted_; ///< for sort()
    mutable bool sorted_ = true;              ///< by CPU and first_sequence: when somebody asks
    /// What was found last: from `first` on it holds for `count` records, and up to `span` of them
    /// there is no other entry.
    struct Last {
        std::uint32_t first = 0;
        std::uint32_t count = 0;
        std::uint64_t span = 0;
        std::uint32_t caller = 0;
        std::uint32_t behind = 0; ///< the first entry of a later place
    };
    void sort() const;
    void take(Last& last, std::size_t at) const;
    void find(Last& last, const abi::Record& record) const;

    mutable std::array<Last, 256> last_{}; ///< by CPU
};

} // namespace mmioscope::trace
