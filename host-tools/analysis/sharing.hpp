// What several CPUs do with the same registers, as a table. docs/sharing.md defines its lines.
#pragma once

#include "analysis/lost_updates.hpp"
#include "analysis/open_interrupts.hpp"
#include "analysis/shared_use.hpp"
#include "analysis/threads.hpp"
#include "reading/consumer.hpp"
#include "system/capped_map.hpp"
#include "table/table.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <utility>
#include <variant>
#include <vector>

namespace mmioscope::analysis {

/// In the order of the table.
enum class Shared : std::uint8_t {
    lost_update,     ///< a candidate
    never_ended,     ///< an interrupt
    shared_register, ///< 4 bytes
    shared_page,     ///< 4 KiB
    never_read_back, ///< a register
};

/// The acknowledges of one interrupt by one CPU that did not end it.
struct NeverEnded {
    Event first;
    std::uint64_t times = 0;
};

class Sharing final : public reading::Consumer {
public:
    void add(const Event& event) override;
    void finish() override { interrupts_.finish(); }

    /// A row for each finding: candidates first, shared things by how close in time, the others by
    /// number; `most` at most of each kind. For people a line counts the rows left out. Without
    /// `all`, only what is likely a bug has rows. Valid while this object exists, nothing is added,
    /// and the trace is open.
    table::Table table(std::size_t most, bool all = true);

private:
    struct Finding {
        std::uint64_t rank;  ///< less is shown first
        std::uint64_t event; ///< Event::number
        std::variant<const LostUpdate*, const NeverEnded*, const Use*> what;
    };
    using Findings = std::array<std::vector<Finding>, 5>; ///< by kind
    Findings findings();
    void never_ended(const Event& acknowledge);

    static constexpr unsigned register_shift = 2, page_shift = 12;

    Threads threads_;
    LostUpdates lost_;
    /// By CPU and interrupt.
    CappedMap<std::map<std::pair<unsigned, std::uint64_t>, NeverEnded>> never_ended_{256};
    OpenInterrupts interrupts_{[this](const Event& event) { never_ended(event); }};
    SharedUses registers_{register_shift, LostUpdates::most_registers};
    std::uint64_t left_out_ = 0; ///< accesses to other registers
    SharedUses pages_{page_shift, 128};
};

} // namespace mmioscope::analysis
