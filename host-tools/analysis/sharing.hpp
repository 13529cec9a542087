// What several CPUs do with the same registers, as a table. docs/sharing.md defines its lines.
#pragma once

#include "analysis/lost_updates.hpp"
#include "analysis/open_interrupts.hpp"
#include "analysis/shared_use.hpp"
#include "analysis/threads.hpp"
#include "reading/consumer.hpp"
#include "system/spilled_map.hpp"
#include "table/table.hpp"

#include <bitset>
#include <cstddef>
#include <cstdint>

namespace mmioscope::analysis {

/// In the order of the table.
enum class Shared : std::uint8_t {
    lost_update,     ///< a candidate
    never_ended,     ///< an interrupt
    shared_register, ///< 4 bytes
    shared_page,     ///< 4 KiB
    never_read_back, ///< a register
};

class Sharing final : public reading::Consumer {
public:
    void add(const Event& event) override;
    void finish() override { interrupts_.finish(); }

    /// A row for each finding: candidates first, shared things by how close in time, the others by
    /// number; `most` at most of each kind. For people a line counts the rows left out. Without
    /// `all`, only what is likely a bug has rows. The end: nothing may be added. Valid as long as
    /// the trace is open.
    table::Table table(std::size_t most, bool all = true);

private:
    struct Finding {
        Shared kind = Shared::lost_update;
        Event event; ///< that --at shows
        Event other; ///< of another CPU; without a number: none
        std::bitset<256> cpus;
        std::uint64_t reads = 0, writes = 0, times = 0;
        std::uint64_t apart = Use::never; ///< ns
        std::uint64_t bits = 0, value = 0;

        void add(const Finding& same);
    };
    using Findings = SpilledMap<Finding>;
    static table::Row row_of(const Finding& finding);
    void never_ended(const Event& acknowledge);

    static constexpr unsigned register_shift = 2, page_shift = 12;

    Threads threads_;
    LostUpdates lost_;
    Findings never_ended_{64}; ///< by interrupt and CPU
    OpenInterrupts interrupts_{[this](const Event& event) { never_ended(event); }};
    SharedUses registers_{register_shift, 1024};
    SharedUses pages_{page_shift, 64};
};

} // namespace mmioscope::analysis
