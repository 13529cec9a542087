#include "view/last_accesses.hpp"

#include "lib/marker_text.hpp"
#include "lib/records_as_trace.hpp"

#include <algorithm>

namespace mmioscope::view {

namespace {

class Show {
public:
    Show(const KnownBoot& boot, const reading::TraceOptions& chosen, LastAccessesOutput& output)
        : boot_(boot), names_(boot.area.regions(), boot.tree), chosen_(chosen), output_(output) {
        chosen_.start = 0;
    }

    void in_flight(const abi::Record& record) {
        const std::vector<unsigned>& cpus = chosen_.cpus;
        if (!cpus.empty() && std::ranges::find(cpus, record.cpu) == cpus.end()) {
            return;
        }
        abi::Record told = record;
        told.type = abi::RecordType::begin;
        told.pc = chosen_.no_pc ? 0 : record.pc;
        Event event = bare(told);
        event.device = names_[record.device];
        event.offset = abi::physical_address(record) - names_.base(record.device);
        output_.add(event, State::in_flight);
    }

    void records(std::span<const abi::Record> records, State state) {
        const FileDescriptor file = trace::as_trace(boot_.area, boot_.tree, records);
        trace::FileSource source(file.get());
        reading::Trace trace(chosen_, source);
        output_.begin(state, trace.reader());
        trace::MarkerTexts markers;
        while (const Event* event = trace.next()) {
            if (event->record->type != abi::RecordType::marker) {
                output_.add(*event, state);
            } else if (const std::optional<trace::Marker> marker = markers.add(*event->record)) {
                add(*marker, state);
            }
        }
        for (const trace::Marker& marker : markers.open()) {
            add(marker, state);
        }
    }

private:
    Event bare(const abi::Record& record) const {
        Event event;
        event.record = &record;
        event.device = "-";
        event.nanoseconds =
            reading::nanoseconds(record.time, boot_.area.header().counter_frequency);
        return event;
    }
    void add(const trace::Marker& marker, State state) {
        Event event = bare(marker.record);
        event.text = marker.text;
        output_.add(event, state);
    }

    const KnownBoot& boot_;
    trace::DeviceNames names_;
    reading::TraceOptions chosen_;
    LastAccessesOutput& output_;
};

} // namespace

void show(const KnownBoot& boot, const trace::LastAccesses& last,
          const reading::TraceOptions& chosen, LastAccessesOutput& output) {
    Show show(boot, chosen, output);
    output.begin_unfinished(!last.unfinished.empty());
    std::vector<abi::Record> described;
    for (const trace::Unfinished& access : last.unfinished) {
        if (access.described) {
            described.push_back(access.record);
        } else {
            show.in_flight(access.record);
        }
    }
    std::ranges::stable_sort(described, {}, &abi::Record::time);
    if (!described.empty()) {
        show.records(described, State::unfinished);
    }
    output.begin_finished(last.records.size());
    show.records(last.records, State::finished);
}

} // namespace mmioscope::view
