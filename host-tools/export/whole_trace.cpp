#include "export/whole_trace.hpp"

#include "lib/lost.hpp"

#include <algorithm>
#include <optional>

namespace mmioscope::exporting {

void WholeTrace::write(Exporter& exporter, const std::function<void(std::uint64_t)>& progress) {
    exporter.begin(trace_.reader());
    while (const Event* const event = trace_.next()) {
        if (!selected_) {
            if (const auto loss = losses_.add(*event->record)) {
                add_loss(*loss, event->nanoseconds, exporter);
            }
        }
        add(*event, exporter);
        last_ns_ = event->nanoseconds;
        last_time_ = event->record->time;
        if (events_ % 4096 == 0) {
            progress(events_);
        }
    }
    add_rest(exporter);
    exporter.finish();
}

void WholeTrace::add(const Event& event, Exporter& exporter) {
    if (event.record->type == abi::RecordType::gap) {
        return; // told by add_loss()
    }
    ++events_;
    if (event.record->type == abi::RecordType::marker) {
        add_marker(event, exporter);
    } else {
        exporter.add(event);
    }
}

void WholeTrace::add_loss(const abi::Loss& loss, std::uint64_t nanoseconds, Exporter& exporter) {
    abi::Record record{};
    record.type = abi::RecordType::gap;
    record.cpu = static_cast<std::uint8_t>(loss.cpu);
    record.time = loss.time;
    record.cpu_sequence = loss.first_sequence;
    record.device = abi::no_device;
    record.value = loss.count;
    Event event;
    event.record = &record;
    event.nanoseconds = nanoseconds;
    event.device = "-";
    lost_ = trace::add_lost(lost_, loss.count);
    exporter.add(event);
}

// The text of a marker comes in pieces, each a record.
void WholeTrace::add_marker(Event event, Exporter& exporter) {
    const std::optional<trace::Marker> marker = texts_.add(*event.record);
    event.text = marker ? std::string_view(marker->text) : std::string_view();
    exporter.add(event);
}

// What the recorder knows to be missing before the first record and behind the last: told here,
// with the time of the last record, since nothing earlier tells of it.
void WholeTrace::add_rest(Exporter& exporter) {
    if (trace_.reader().sound()) {
        for (abi::Loss loss : losses_.rest(trace_.reader().losses())) {
            loss.time = std::max(loss.time, last_time_);
            add_loss(loss, last_ns_, exporter);
        }
    }
}

} // namespace mmioscope::exporting
