#include "mmioscope/trace.hpp"

#include "reading/tally.hpp"
#include "reading/trace.hpp"
#include "records/ticks.hpp"

#include <cstring>
#include <utility>

namespace mmioscope {

struct TraceFile::Implementation {
    explicit Implementation(const reading::TraceOptions& options)
        : trace(options), tally(reading::selects(options)) {}

    const trace::TraceReader& reader() const { return trace.reader(); }
    /// The events that next() has not returned yet; none at the end.
    std::span<const Event> more() {
        if (to_come.empty()) {
            to_come = trace.next_events();
            tally.add_all(to_come);
        }
        return to_come;
    }
    void sought() {
        to_come = {};
        tally = reading::Tally(true);
    }

    reading::Trace trace;
    reading::Tally tally;
    std::span<const Event> to_come;
    std::vector<Device> devices; ///< made when it is asked for
};

namespace {

reading::TraceOptions options_of(const std::string& path, const TraceFileOptions& options) {
    reading::TraceOptions result;
    result.path = path;
    result.from = options.from;
    result.to = options.to;
    result.cpus = {options.cpus.begin(), options.cpus.end()};
    result.filter = options.filter;
    result.symbols = options.symbols;
    result.registers = options.registers;
    result.tree = options.device_tree;
    result.one_file = options.one_file;
    result.report = options.report;
    result.stop = options.stop;
    if (options.follow) {
        result.wait = [stop = options.stop] { return !stop || !stop(); };
    }
    return result;
}

} // namespace

TraceFile::TraceFile(const std::string& path, const TraceFileOptions& options)
    : trace_(std::make_unique<Implementation>(options_of(path, options))) {}

TraceFile::~TraceFile() = default;
TraceFile::TraceFile(TraceFile&& other) noexcept = default;
TraceFile& TraceFile::operator=(TraceFile&& other) noexcept = default;

const Event* TraceFile::next() {
    const std::span<const Event> events = trace_->more();
    if (events.empty()) {
        return nullptr;
    }
    trace_->to_come = events.subspan(1);
    return &events.front();
}

std::span<const Event> TraceFile::next_events() {
    return trace_->more(), std::exchange(trace_->to_come, {});
}

void TraceFile::seek_number(std::uint64_t number) {
    trace_->sought();
    trace_->trace.seek_number(number);
}

void TraceFile::seek_time(std::uint64_t nanoseconds) {
    trace_->sought();
    trace_->trace.seek_time(nanoseconds);
}

std::string TraceFile::board() const {
    const auto& info = trace_->reader().info();
    return info ? std::string(info->board, ::strnlen(info->board, sizeof info->board)) : "";
}

std::uint32_t TraceFile::frequency() const {
    const auto& info = trace_->reader().info();
    return info ? info->counter_frequency : 0;
}

unsigned TraceFile::cpus() const {
    const auto& info = trace_->reader().info();
    return info ? info->cpu_count : 0;
}

std::span<const std::uint8_t> TraceFile::boot_id() const {
    return trace_->reader().boot_id();
}

std::span<const std::byte> TraceFile::device_tree() const {
    return trace_->reader().tree();
}

std::span<const Device> TraceFile::devices() const {
    std::vector<Device>& devices = trace_->devices;
    if (devices.empty()) {
        for (const registers::Device& device : trace_->trace.naming().devices().devices()) {
            const auto index = static_cast<std::uint16_t>(devices.size());
            devices.push_back({std::string(trace_->reader().names()[index]), device.path,
                               device.compatible, device.range.base, device.range.size});
        }
    }
    return devices;
}

const Device* TraceFile::device(const Event& event) const {
    const std::span<const Device> all = devices();
    return event.record.device < all.size() ? &all[event.record.device] : nullptr;
}

std::uint64_t TraceFile::duration(const Event& event) const {
    return trace::nanoseconds(event.record.duration, frequency());
}

const std::map<std::string, std::string>& TraceFile::text() const {
    return trace_->reader().text();
}

std::span<const abi::Loss> TraceFile::losses() const {
    return trace_->reader().losses();
}

std::optional<abi::Ending> TraceFile::ending() const {
    return trace_->reader().ending();
}

unsigned TraceFile::files() const {
    return trace_->reader().parts();
}

const std::string& TraceFile::missing_file() const {
    return trace_->reader().missing_part();
}

bool TraceFile::sound() const {
    return trace_->reader().sound() && missing_file().empty();
}

bool TraceFile::complete() const {
    return trace_->tally.status(trace_->reader()) == Status::fine;
}

std::string TraceFile::verdict() const {
    return trace_->tally.verdict(trace_->reader());
}

} // namespace mmioscope
