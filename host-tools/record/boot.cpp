#include "record/boot.hpp"

#include "records/verdict.hpp"
#include "view/short_tables.hpp"

#include <algorithm>
#include <utility>

namespace mmioscope::record {

Boot::Boot(const wire::StreamHead& head, std::vector<std::byte> tree)
    : head_(head), tree_(std::move(tree)), names_(head_.regions, tree_),
      losses_(head.info.cpu_count) {}

void Boot::add(std::span<const abi::Record> records) {
    trace::add_runs(records, losses_, summary_);
    end_.reset(); // the guest went on
    unfinished_.clear();
}

void Boot::end(const abi::EndHeader& end, std::span<const abi::Statistics> statistics) {
    end_ = end;
    statistics_.assign(statistics.begin(), statistics.end());
    for (unsigned cpu = 0; cpu < std::min(end.cpu_count, head_.info.cpu_count); ++cpu) {
        losses_.finish_at(cpu, end.next_sequence[cpu]);
        if (cpu < others_.size()) {
            losses_.set_others(cpu, end.next_sequence[cpu], others_[cpu]);
        }
    }
    others_.clear();
}

std::string Boot::tables(bool own, std::size_t width) const {
    const trace::ReportContext context{&names_, summary_.start().value_or(0),
                                       head_.info.counter_frequency};
    return view::fitted_text(trace::device_table(summary_, context),
                             tree::short_names(names_, head_.regions, tree_), width) +
           trace::other_counts(summary_, statistics_, own);
}

abi::Ending ending_of(abi::StreamEnd reason) {
    switch (reason) {
    case abi::StreamEnd::machine_off: return abi::Ending::machine_off;
    case abi::StreamEnd::machine_reset: return abi::Ending::machine_reset;
    case abi::StreamEnd::panicked: return abi::Ending::panicked;
    case abi::StreamEnd::stopped: return abi::Ending::interrupted;
    case abi::StreamEnd::halted: return abi::Ending::halted;
    }
    return abi::Ending::machine_off; // an ending of a later version
}

} // namespace mmioscope::record
