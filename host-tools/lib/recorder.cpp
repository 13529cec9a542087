#include "lib/recorder.hpp"

#include <algorithm>

namespace mmioscope::trace {

Recorder::Recorder(const Area& area, FileWriter& file, Onlooker* onlooker)
    : area_(area), file_(file), onlooker_(onlooker), rings_(area, abi::host_reader), losses_(area.header().cpu_count) {}

std::size_t Recorder::pass() {
    const std::size_t count = rings_.pass(ordered_);
    deliver();
    return count;
}

void Recorder::finish(abi::Ending ending) {
    while (pass() > 0) {
    }
    rings_.flush(ordered_);
    deliver();
    for (unsigned cpu = 0; cpu < rings_.rings().size(); ++cpu) {
        // In flight mode the writer overwrites what has been read, too: holes tell the losses.
        if (area_.header().policy != abi::Policy::flight) {
            losses_.finish(cpu, rings_.rings()[cpu].lost());
        }
    }
    file_.flush();
    file_.values(abi::SectionType::losses, std::span<const abi::Loss>(losses_.losses()));
    const std::vector<abi::Statistics> statistics = area_.statistics();
    file_.values(abi::SectionType::statistics, std::span<const abi::Statistics>(statistics));
    file_.text(rings_.unfinished());
    file_.finish(losses_.lost(), ending);
}

void Recorder::deliver() {
    for (const abi::Record& record : ordered_) {
        losses_.add(record);
    }
    summary_.add(ordered_);
    std::span<const abi::Record> rest = ordered_;
    do { // once at least: an onlooker has something to do without records, too
        const std::span part = rest.first(std::min(rest.size(), file_.room()));
        if (onlooker_ != nullptr) {
            onlooker_->see(part, file_);
        }
        file_.append(part);
        rest = rest.subspan(part.size());
    } while (!rest.empty());
    ordered_.clear();
}

} // namespace mmioscope::trace
