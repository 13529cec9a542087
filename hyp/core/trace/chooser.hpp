// Decides which traced accesses become records. Without a chooser all do.
#pragma once

#include "abi/record.hpp"

namespace mmioscope {

class Chooser {
public:
    enum class Verdict : std::uint8_t {
        pass,  ///< a record
        hold,  ///< no record
        first, ///< a record; notice() comes before it
        last,  ///< a record; notice() comes after it
    };

    /// False: all accesses become records, and nothing else here is asked. Changes only while no
    /// access is in flight.
    bool any{};

    /// Decides about an access that this CPU has made. `passed` is the CPU's counter for the
    /// chooser. The caller holds choice_lock if may_count() requires it.
    virtual Verdict choose(const abi::Record& record, std::uint32_t& passed) = 0;
    /// Whether an access whose begin record is `begin` is certain to become a record. `several`: it
    /// is the first of several accesses of one instruction.
    virtual bool surely_takes(const abi::Record& begin, bool several) const = 0;
    /// Whether choose() may count an access of `size` bytes at `at`; 0 bytes: wherever it is.
    virtual bool may_count(std::uint64_t at, unsigned size) const = 0;
    /// Whether no access becomes a record now.
    virtual bool holds_all() const = 0;
    /// The record that goes with Verdict::first or last.
    virtual abi::Record notice() const = 0;

protected:
    ~Chooser() = default;
};

/// Whether some accesses do not become records.
inline bool chooses(const Chooser* chooser) {
    return chooser != nullptr && chooser->any;
}

} // namespace mmioscope
