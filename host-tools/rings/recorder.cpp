#include "rings/recorder.hpp"

#include "file/texts.hpp"

#include <fmt/format.h>

namespace mmioscope::rings {

Recorder::Recorder(const Area& area, trace::FileWriter& file, Onlooker* onlooker)
    : area_(area), file_(file), onlooker_(onlooker), rings_(area, abi::host_reader),
      losses_(area.header().cpu_count) {}

// Sorts them right where the file's writer takes them from.
std::size_t Recorder::pass() {
    const std::size_t before = file_.pending().size();
    const std::size_t count = rings_.pass(file_.pending());
    deliver(before);
    return count;
}

void Recorder::finish(abi::Ending ending) {
    while (pass() > 0) {
    }
    const std::size_t before = file_.pending().size();
    rings_.flush(file_.pending());
    deliver(before);
    for (unsigned cpu = 0; cpu < rings_.rings().size(); ++cpu) {
        // In flight mode the writer also overwrites records that were read: holes show the losses.
        if (area_.header().policy != abi::Policy::flight) {
            losses_.finish(cpu, rings_.rings()[cpu].lost());
        }
        const auto [sequence, others] = rings_.rings()[cpu].numbered();
        losses_.set_others(cpu, sequence, others);
    }
    file_.flush();
    file_.values(abi::SectionType::losses, std::span<const abi::Loss>(losses_.losses()));
    const std::vector<abi::Statistics> statistics = area_.statistics();
    file_.values(abi::SectionType::statistics, std::span<const abi::Statistics>(statistics));
    const std::vector<trace::UnfinishedAccess> unfinished = rings_.unfinished();
    why_unfinished_ = trace::why_unfinished(unfinished, ending);
    file_.text(trace::lines_of(unfinished) + trace::incomplete_line(doubts()) +
               trace::lost_others_line(losses_.all_lost()));
    file_.finish(losses_.lost(), ending);
}

std::string Recorder::doubts() const {
    return rings_.damaged() > 0
               ? fmt::format("{} records were damaged in the ring", rings_.damaged())
               : why_unfinished_;
}

void Recorder::add(const trace::Run& run, std::span<abi::Record> records) {
    if (run.count == 1) { // as all that are no accesses
        returns_.complete(records[static_cast<std::size_t>(run.first - records.data())]);
    }
    losses_.add(run);
    summary_.add(run);
    file_.seen(run);
}

// The writer's pending records after the first `before` ones are new.
void Recorder::deliver(std::size_t before) {
    do { // at least once: an onlooker also works without records
        const std::span<abi::Record> records = file_.next_section().subspan(before);
        if (onlooker_ == nullptr) {
            trace::for_each_run<trace::RunsOf::time, abi::Record>(
                records, [&](const trace::Run& run) { add(run, records); });
        } else {
            runs_.clear();
            trace::for_each_run<trace::RunsOf::task, abi::Record>(records,
                                                                  [&](const trace::Run& run) {
                                                                      add(run, records);
                                                                      runs_.push_back(run);
                                                                  });
            onlooker_->see(records, runs_, file_);
        }
        before = 0;
    } while (file_.write_full() && !file_.next_section().empty());
}

} // namespace mmioscope::rings
