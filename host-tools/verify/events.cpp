#include "verify/events.hpp"

#include "tree/device_names.hpp"

#include <array>
#include <optional>

namespace mmioscope::verify {

namespace {

bool aborted(const abi::Record& record) {
    return record.type == abi::RecordType::fault &&
           record.value == static_cast<std::uint64_t>(abi::FaultReason::external_abort);
}

bool is_walk(const abi::Record& record) {
    return record.type == abi::RecordType::page_table_walk;
}

// Some of its accesses, or none; without an address nothing can be compared.
bool uncertain(const abi::Record& record) {
    const bool unknown = record.type == abi::RecordType::fault &&
                         abi::fault_reason(record.value) == abi::FaultReason::access_unknown;
    return is_walk(record) || (unknown && abi::physical_address(record) != 0);
}

bool may_be_on_the_bus(const abi::Record& record) {
    return record.type == abi::RecordType::access || record.type == abi::RecordType::own ||
           aborted(record) || uncertain(record);
}

importing::Event to_event(const abi::Record& record, std::uint64_t number) {
    importing::Event event{};
    event.address = abi::physical_address(record);
    event.value = record.value;
    event.time = record.time;
    event.duration = record.duration;
    event.lock_sequence = record.lock_sequence;
    event.cpu_sequence = record.cpu_sequence;
    event.pc = record.pc;
    event.number = static_cast<std::uint32_t>(number);
    event.device = record.device;
    event.cpu = record.cpu;
    event.size = static_cast<std::uint8_t>(abi::access_size(record));
    event.flags = record.flags;
    event.write = abi::is_write(record);
    event.own = record.type == abi::RecordType::own;
    event.uncertain = uncertain(record);
    event.walk = is_walk(record);
    event.value_known = (record.flags & abi::flag_value_unknown) == 0 && !aborted(record);
    event.guest_instruction = !event.own && (record.access & abi::access_emulated) == 0;
    return event;
}

// Whether it is of the same instruction as `fault`, which was taken behind its first access: the
// guest has mapped the rest meanwhile.
bool made_again(const importing::Event& fault, const importing::Event& event) {
    return fault.uncertain && !fault.walk && !event.uncertain && event.pc == fault.pc &&
           event.address == fault.address && event.write == fault.write;
}

} // namespace

Events read_events(trace::TraceReader& reader) {
    Events events{{}, trace::LossCounter(1), 0, 0, {}};
    const std::optional<std::uint32_t> memory = tree::guest_memory_in(reader.regions());
    std::array<importing::Event, 256> faults{}; // the last one of each CPU
    for (auto records = reader.next(); !records.empty(); records = reader.next()) {
        for (const abi::Record& record : records) {
            ++events.records;
            events.holes.add(record);
            if (record.device == memory) {
                ++events.of_memory;
            } else if (may_be_on_the_bus(record)) {
                importing::Event event = to_event(record, events.records);
                importing::Event& fault = faults[event.cpu];
                event.again = made_again(fault, event);
                if (event.uncertain || event.again) {
                    fault = event;
                }
                events.all.push_back(event);
            }
        }
    }
    events.unfinished = trace::unfinished_accesses(reader.text());
    return events;
}

} // namespace mmioscope::verify
