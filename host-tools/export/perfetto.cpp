// A trace for Perfetto (ui.perfetto.dev, trace_processor): protobuf, with the public field numbers.
// tests/export/perfetto.proto describes the fields used.
#include "export/formats.hpp"

#include "export/columns.hpp"
#include "records/kinds.hpp"
#include "records/ticks.hpp"

#include <fmt/compile.h>
#include <protozero/pbf_writer.hpp>

#include <algorithm>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <unordered_map>
#include <utility>

namespace mmioscope::exporting {

using abi::RecordType;
using protozero::pbf_writer;

namespace {

// Trace, TracePacket, TrackDescriptor, TrackEvent, DebugAnnotation.
constexpr unsigned trace_packet = 1;
constexpr unsigned packet_timestamp = 8;
constexpr unsigned packet_sequence = 10;
constexpr unsigned packet_event = 11;
constexpr unsigned packet_names = 12;
constexpr unsigned packet_flags = 13;
constexpr unsigned packet_track = 60;
constexpr unsigned track_uuid = 1;
constexpr unsigned track_name = 2;
constexpr unsigned track_parent = 5;
constexpr unsigned track_counter = 8;
constexpr unsigned counter_unit_name = 6;
constexpr unsigned event_annotation = 4;
constexpr unsigned event_type = 9;
constexpr unsigned event_track = 11;
constexpr unsigned event_name = 10; ///< iid of the name
constexpr unsigned event_counter_value = 30;
constexpr unsigned annotation_uint = 3;
constexpr unsigned annotation_string = 17; ///< iid of the string
constexpr unsigned annotation_pointer = 7;
constexpr unsigned annotation_name = 1; ///< iid of the name

// TracePacket.sequence_flags
constexpr unsigned no_names_known = 1;
constexpr unsigned needs_names = 2;

enum EventType { slice_begin = 1, slice_end = 2, instant = 3, counter = 4 };

// Tracks: a group that contains those of devices (65535 for none), of CPUs, and of rates.
constexpr std::uint64_t devices_group = 1;
constexpr std::uint64_t cpus_group = 2;
constexpr std::uint64_t tasks_group = 3;
constexpr std::uint64_t interrupts_group = 4;
constexpr std::uint64_t registers_group = 5;
constexpr std::uint64_t calls_group = 6;
constexpr std::uint64_t device_tracks = 0x1'0000;
constexpr std::uint64_t cpu_tracks = 0x2'0000;
constexpr std::uint64_t rate_tracks = 0x3'0000;

constexpr std::uint64_t task_tracks = 0x4'0000; ///< by CPU

constexpr std::uint64_t interrupt_tracks = 0x5'0000; ///< of a CPU's interrupts, as they occur

constexpr std::uint64_t value_tracks = 0x6'0000; ///< of registers, numbered as they occur

constexpr std::uint64_t call_tracks = 0x7'0000; ///< by task, numbered as they occur

/// A packet; the destructor writes it.
class Packet {
public:
    explicit Packet(Sink& sink) : sink_(sink) {}
    ~Packet() {
        std::string whole;
        pbf_writer(whole).add_message(trace_packet, bytes_);
        sink_.put(whole);
    }
    Packet(const Packet&) = delete;
    Packet& operator=(const Packet&) = delete;

    pbf_writer& writer() { return writer_; }

private:
    Sink& sink_;
    std::string bytes_;
    pbf_writer writer_{bytes_};
};

void describe(Sink& sink, std::uint64_t uuid, std::string_view name, std::uint64_t parent,
              std::string_view counted = {}) {
    Packet packet(sink);
    pbf_writer track(packet.writer(), packet_track);
    track.add_uint64(track_uuid, uuid);
    track.add_string(track_name, name.data(), name.size());
    if (parent != 0) {
        track.add_uint64(track_parent, parent);
    }
    if (!counted.empty()) {
        pbf_writer unit(track, track_counter);
        unit.add_string(counter_unit_name, counted.data(), counted.size());
    }
}

/// Recurring texts of a Perfetto trace: each is written once, and is a number from then on
/// (InternedData of Perfetto's protocol).
class PerfettoNames {
public:
    /// Each kind has its own numbers. The values are fields of InternedData.
    enum class Kind : std::uint8_t { event = 2, note = 3, text = 29 };

    /// The number of `text`. The packet must define a new one: it is in take_added().
    std::uint64_t number_of(Kind kind, std::string_view text) {
        constexpr unsigned number_field = 1;
        constexpr unsigned text_field = 2;
        Numbers& numbers = of(kind);
        const auto found = numbers.find(text);
        if (found != numbers.end()) {
            return found->second;
        }
        const std::uint64_t number = numbers.size() + 1;
        numbers.emplace(text, number);
        protozero::pbf_writer all(added_);
        protozero::pbf_writer entry(all, static_cast<unsigned>(kind));
        entry.add_uint64(number_field, number);
        entry.add_string(text_field, text.data(), text.size());
        return number;
    }

    /// The definitions for the current packet, as an InternedData; empty if none. They count as
    /// written.
    std::string take_added() { return std::exchange(added_, {}); }

    /// Call before each packet. Forgets all numbers if there are very many. Returns whether none is
    /// known; then the packet must say so.
    bool begin_packet() {
        if (events_.size() + texts_.size() > most) {
            events_.clear();
            notes_.clear();
            texts_.clear();
        }
        return notes_.empty();
    }

private:
    static constexpr std::size_t most = 4'096;

    struct Hash {
        using is_transparent = void;
        std::size_t operator()(std::string_view text) const {
            return std::hash<std::string_view>()(text);
        }
    };
    using Numbers = std::unordered_map<std::string, std::uint64_t, Hash, std::equal_to<>>;

    Numbers& of(Kind kind) {
        return kind == Kind::event ? events_ : kind == Kind::note ? notes_ : texts_;
    }

    Numbers events_, notes_, texts_;
    std::string added_;
};

/// An event on a track.
class TrackEvent {
public:
    TrackEvent(Sink& sink, PerfettoNames& names, std::uint64_t nanoseconds, EventType type,
               std::uint64_t track)
        : names_(names), flags_(names.begin_packet() ? needs_names | no_names_known : needs_names),
          packet_(sink) {
        packet_.writer().add_uint64(packet_timestamp, nanoseconds);
        packet_.writer().add_uint32(packet_sequence, 1);
        event_.add_enum(event_type, type);
        event_.add_uint64(event_track, track);
    }
    ~TrackEvent() {
        packet_.writer().add_message(packet_event, bytes_);
        if (const std::string added = names_.take_added(); !added.empty()) {
            packet_.writer().add_message(packet_names, added);
        }
        if (named_) {
            packet_.writer().add_uint32(packet_flags, flags_);
        }
    }
    TrackEvent(const TrackEvent&) = delete;
    TrackEvent& operator=(const TrackEvent&) = delete;

    void name(std::string_view name) {
        named_ = true;
        event_.add_uint64(event_name, names_.number_of(Kind::event, name));
    }
    void value(std::int64_t value) { event_.add_int64(event_counter_value, value); }

    void argument(std::string_view name, const Cell& cell) {
        if (const auto* const hex = std::get_if<Hex>(&cell)) {
            annotation(name).add_uint64(annotation_pointer, hex->value);
        } else if (const auto* const number = std::get_if<std::uint64_t>(&cell)) {
            annotation(name).add_uint64(annotation_uint, *number);
        } else if (const std::string_view text = table::text_in(cell); !text.empty()) {
            annotation(name).add_uint64(annotation_string, names_.number_of(Kind::text, text));
        }
    }

private:
    pbf_writer annotation(std::string_view name) {
        pbf_writer note(event_, event_annotation);
        note.add_uint64(annotation_name, names_.number_of(Kind::note, name));
        return note;
    }

    using Kind = PerfettoNames::Kind;

    PerfettoNames& names_;
    unsigned flags_;
    bool named_ = false;
    Packet packet_;
    std::string bytes_;
    pbf_writer event_{bytes_};
};

std::string access_name(const Event& event) {
    const std::string place = event.reg() != nullptr
                                  ? event.reg()->name
                                  : fmt::format(FMT_COMPILE("+{:#x}"), event.offset());
    return fmt::format(FMT_COMPILE("{}{} {}"), abi::is_write(event.record) ? 'W' : 'R',
                       abi::access_size(event.record), place);
}

void add_arguments(TrackEvent& to, const Event& event, Column::In in, const Cells& cells) {
    for (std::size_t i = 0; i < columns.size(); ++i) {
        if (columns[i].in == in) {
            to.argument(columns[i].column, cells.of(i, event));
        }
    }
}

class Perfetto : public Exporter {
public:
    explicit Perfetto(Sink& sink) : sink_(sink) {}

    void begin(const trace::TraceReader& reader) override {
        cells_ = Cells(reader);
        describe(sink_, devices_group, "devices", 0);
        describe(sink_, cpus_group, "CPUs", 0);
        describe(sink_, tasks_group, "tasks, by their accesses", 0);
        describe(sink_, interrupts_group, "interrupts", 0);
        describe(sink_, registers_group, "registers", 0);
        describe(sink_, calls_group, "calls, by task", 0);
        const auto device = [this](std::uint16_t index, std::string_view name) {
            describe(sink_, device_tracks + index, name, devices_group);
            describe(sink_, rate_tracks + index, fmt::format("{} rate", name), devices_group,
                     "accesses/s");
        };
        for (std::size_t i = 0; i < reader.regions().size(); ++i) {
            const auto index = static_cast<std::uint16_t>(i);
            device(index, reader.names()[index]);
        }
        device(abi::no_device, "no device");
    }

    void add(const Event& event) override {
        describe_cpu(event.record.cpu);
        if (event.record.type == RecordType::access) {
            count(event);
            add_access(event);
            show_task(event);
            show_interrupt(event);
            show_value(event);
        }
        show_call(event);
        latest_ = std::max(latest_, event.nanoseconds);
        add_instant(event);
        sink_.settle();
    }
    void finish() override {
        while (!open_.empty()) {
            end_slice(open_.begin()->first, ~std::uint64_t{0});
        }
        while (!spans_.empty()) {
            end_span(spans_.begin()->first, latest_);
        }
        write_rates();
        sink_.flush();
    }

    std::vector<std::string> left_out() const override {
        return shortened_ == 0 ? std::vector<std::string>()
                               : std::vector{fmt::format(
                                     "perfetto: {} accesses end where the next one of their "
                                     "device begins; `duration_ns` has the whole",
                                     shortened_)};
    }

private:
    // A slice on the device's track.
    void add_access(const Event& event) {
        const abi::Record& r = event.record;
        end_slice(r.device, event.nanoseconds);
        TrackEvent slice(sink_, names_, event.nanoseconds, slice_begin, device_tracks + r.device);
        slice.name(access_name(event));
        add_arguments(slice, event, Column::In::slices, cells_);
        open_[r.device] = event.nanoseconds + cells_.context.tick.nanoseconds(r.duration);
    }

    // On the CPU's track.
    void add_instant(const Event& event) {
        const abi::Record& r = event.record;
        TrackEvent point(sink_, names_, event.nanoseconds, instant, cpu_tracks + r.cpu);
        const bool access = r.type == RecordType::access;
        point.name(access ? fmt::format(FMT_COMPILE("{} {}"), event.device(), access_name(event))
                          : std::string(type_word(r.type)));
        add_arguments(point, event, Column::In::all, cells_);
        if (!access) {
            add_arguments(point, event, Column::In::slices, cells_);
        }
        if (!access && trace::has_place(r.type)) {
            point.argument("device", event.device());
        }
    }

    // Slices of one track must not overlap: end the open one where the next begins.
    void end_slice(std::uint16_t device, std::uint64_t not_after) {
        const auto open = open_.find(device);
        if (open != open_.end()) {
            shortened_ += open->second > not_after ? 1 : 0;
            TrackEvent(sink_, names_, std::min(open->second, not_after), slice_end,
                       device_tracks + device);
            open_.erase(open);
        }
    }

    void count(const Event& event) {
        const std::uint64_t period = event.nanoseconds / rate_period;
        if (period != period_) {
            write_rates();
            period_ = period;
        }
        ++accesses_[event.record.device];
    }

    // The period's rate at its start, and zero at its end, which the next period may override.
    void write_rates() {
        constexpr std::uint64_t periods_in_second = 1'000'000'000 / rate_period;
        for (const auto& [device, accesses] : accesses_) {
            const std::uint64_t track = rate_tracks + device;
            TrackEvent(sink_, names_, period_ * rate_period, counter, track)
                .value(static_cast<std::int64_t>(accesses * periods_in_second));
            TrackEvent(sink_, names_, (period_ + 1) * rate_period, counter, track).value(0);
        }
        accesses_.clear();
    }

    void describe_cpu(std::uint8_t cpu) {
        if (cpus_.insert(cpu).second) {
            describe(sink_, cpu_tracks + cpu, fmt::format("cpu{}", cpu), cpus_group);
            describe(sink_, task_tracks + cpu, fmt::format("cpu{} task", cpu), tasks_group);
        }
    }

    // A slice from a task's first access on a CPU to the first one of another task there.
    void show_task(const Event& event) {
        const std::uint64_t track = task_tracks + event.record.cpu;
        const std::string name =
            event.task() == nullptr
                ? ""
                : fmt::format(FMT_COMPILE("{}:{}"), event.task()->comm, event.task()->pid);
        const auto span = spans_.find(track);
        if (span == spans_.end() ? name.empty() : span->second == name) {
            return;
        }
        end_span(track, event.nanoseconds);
        if (!name.empty()) {
            begin_span(track, event.nanoseconds, name);
        }
    }

    // A slice from the read that acknowledges it to the write that ends it.
    void show_interrupt(const Event& event) {
        if (event.interrupt().empty() || event.interrupt() == "spurious") {
            return;
        }
        const std::string name = fmt::format("cpu{} {}", event.record.cpu, event.interrupt());
        const auto [track, fresh] =
            interrupts_.try_emplace(name, interrupt_tracks + interrupts_.size());
        if (fresh) {
            describe(sink_, track->second, name, interrupts_group);
        }
        end_span(track->second, event.nanoseconds);
        if (!abi::is_write(event.record)) {
            begin_span(track->second, event.nanoseconds, event.interrupt());
        }
    }

    // For a register with a name, if its value changes.
    void show_value(const Event& event) {
        if (event.reg() == nullptr || !has_bus_value(event.record)) {
            return;
        }
        const std::uint64_t value = event.record.value;
        const std::string name =
            fmt::format(FMT_COMPILE("{} {}"), event.device(), event.reg()->name);
        const auto [at, fresh] =
            values_.try_emplace(name, Value{value_tracks + values_.size(), value});
        if (fresh) {
            describe(sink_, at->second.track, name, registers_group, "value");
        }
        if (fresh || at->second.last != value) {
            at->second.last = value;
            TrackEvent(sink_, names_, event.nanoseconds, counter, at->second.track)
                .value(static_cast<std::int64_t>(value));
        }
    }

    // A slice from a call to its return, when that is known. Readers sort by time, so those inside,
    // which come before it, are in it.
    void show_call(const Event& event) {
        const abi::Record& r = event.record;
        if (r.type != RecordType::ret || r.duration == 0) {
            return;
        }
        const std::string task =
            event.task() == nullptr
                ? fmt::format(FMT_COMPILE("{:#x}"), r.task)
                : fmt::format(FMT_COMPILE("{}:{}"), event.task()->comm, event.task()->pid);
        const auto [at, fresh] = callers_.try_emplace(task, call_tracks + callers_.size());
        if (fresh) {
            describe(sink_, at->second, task, calls_group);
        }
        const std::uint64_t took = cells_.context.tick.nanoseconds(r.duration);
        TrackEvent(sink_, names_, event.nanoseconds - std::min(took, event.nanoseconds),
                   slice_begin, at->second)
            .name(event.code() == nullptr ? fmt::format(FMT_COMPILE("{:#x}"), r.pc)
                                          : event.code()->function);
        TrackEvent(sink_, names_, event.nanoseconds, slice_end, at->second);
    }

    void begin_span(std::uint64_t track, std::uint64_t nanoseconds, std::string_view name) {
        TrackEvent(sink_, names_, nanoseconds, slice_begin, track).name(name);
        spans_.insert_or_assign(track, std::string(name));
    }

    void end_span(std::uint64_t track, std::uint64_t nanoseconds) {
        if (spans_.erase(track) > 0) {
            TrackEvent(sink_, names_, nanoseconds, slice_end, track);
        }
    }

    static constexpr std::uint64_t rate_period = 10'000'000; ///< ns

    Sink& sink_;
    PerfettoNames names_;
    Cells cells_;
    std::set<std::uint8_t> cpus_;                     ///< with a track
    std::map<std::uint16_t, std::uint64_t> open_;     ///< ends of slices, by device
    std::map<std::string, std::uint64_t> interrupts_; ///< tracks, by CPU and interrupt
    std::map<std::string, std::uint64_t> callers_;    ///< tracks of calls, by task
    std::map<std::uint64_t, std::string> spans_;      ///< open slices, by track
    std::uint64_t latest_ = 0;                        ///< ns
    struct Value {
        std::uint64_t track;
        std::uint64_t last;
    };
    std::map<std::string, Value> values_;             ///< by device and register
    std::map<std::uint16_t, std::uint64_t> accesses_; ///< in this period, by device
    std::uint64_t period_ = 0;
    std::uint64_t shortened_ = 0;
};

} // namespace

std::unique_ptr<Exporter> make_perfetto(Sink& sink) {
    return std::make_unique<Perfetto>(sink);
}

} // namespace mmioscope::exporting
