#include "view/last_accesses.hpp"

#include "rings/records_as_trace.hpp"
#include "reading/drive.hpp"

#include <algorithm>

namespace mmioscope::view {

namespace {

/// Shows those of one state, as a separate trace.
class Show final : public reading::Consumer {
public:
    Show(State state, LastAccessesOutput& output) : state_(state), output_(output) {}

    void add(const Event& event) override {
        if (event.record.type != abi::RecordType::marker || event.text_id() != no_id) {
            output_.add(event, state_);
        }
    }
    void add_unended(const Event& marker) override { output_.add(marker, state_); }

private:
    State state_;
    LastAccessesOutput& output_;
};

void show_all(const KnownBoot& boot, std::span<const abi::Record> records, State state,
              reading::TraceOptions chosen, LastAccessesOutput& output) {
    chosen.start = 0;
    const FileDescriptor file = rings::as_trace(boot.area, boot.tree, records);
    FileSource source(file.get());
    reading::Trace trace(chosen, source);
    output.begin(state, trace.reader());
    Show show(state, output);
    reading::drive(trace, {&show});
}

// For in-flight accesses only the choice of CPUs applies, not the filter.
reading::TraceOptions only_cpus(const reading::TraceOptions& chosen) {
    reading::TraceOptions only = chosen;
    only.filter.clear();
    only.from.reset();
    only.to.reset();
    return only;
}

} // namespace

void show(const KnownBoot& boot, const rings::LastAccesses& last,
          const reading::TraceOptions& chosen, LastAccessesOutput& output) {
    output.begin_unfinished(!last.unfinished.empty());
    std::vector<abi::Record> in_flight;
    std::vector<abi::Record> described;
    for (const rings::Unfinished& access : last.unfinished) {
        (access.described ? described : in_flight).push_back(access.record);
    }
    for (abi::Record& record : in_flight) {
        record.type = abi::RecordType::begin;
    }
    std::ranges::stable_sort(described, {}, &abi::Record::time);
    if (!in_flight.empty()) {
        show_all(boot, in_flight, State::in_flight, only_cpus(chosen), output);
    }
    if (!described.empty()) {
        show_all(boot, described, State::unfinished, chosen, output);
    }
    output.begin_finished(last.records.size());
    show_all(boot, last.records, State::finished, chosen, output);
}

} // namespace mmioscope::view
