// Follows records and their payload (abi/payload.hpp): which groups lack a part.
#pragma once

#include "abi/payload.hpp"

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace mmioscope::trace {

/// Whether `record`, the one behind `before`, is a part of the same group.
bool belong_together(const abi::Record& before, const abi::Record& record);

/// How many of the first of `records` may be separated from all behind them: not the last group if
/// it goes on. All of them if that is longer than any group is.
std::size_t whole_groups(std::span<const abi::Record> records);

class Groups {
public:
    /// What the next record of a CPU shows.
    struct Finding {
        unsigned broken = 0;    ///< groups of which a part is missing, each told once
        std::string_view wrong; ///< what no loss explains; empty: nothing
    };

    /// Whether add() must be called for `record`; otherwise it need not be.
    bool minds(const abi::Record& record) const {
        return abi::goes_on(record) || record.type == abi::RecordType::payload ||
               cpus_[record.cpu].before.has_value();
    }
    /// Adds the next record; each CPU's in the order in which it published them. `next`: the
    /// cpu_sequence of the record behind its CPU's last one, if there was one.
    Finding add(const abi::Record& record, std::optional<std::uint32_t> next);
    /// Whether a piece should follow some CPU's last record.
    bool open() const { return open_ != 0; }
    /// Nothing follows. Returns how many groups have no end.
    unsigned unended() const { return open_; }

private:
    struct Cpu {
        std::optional<abi::Record> before;  ///< the last record, if a piece follows it
        std::optional<std::uint32_t> owner; ///< of the last group that was told
    };

    std::array<Cpu, 256> cpus_; ///< by Record::cpu
    unsigned open_ = 0;         ///< those with a `before`
};

/// "of 4711 at 32: 0011..": whose it is, by cpu_sequence, from which byte on, and the bytes.
/// `hidden`: without the bytes.
std::string payload_text(const abi::Record& piece, bool hidden = false);

} // namespace mmioscope::trace
