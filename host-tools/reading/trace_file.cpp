#include "mmioscope/trace.hpp"

#include "reading/trace.hpp"

#include <cstring>

namespace mmioscope {

struct TraceFile::Implementation {
    explicit Implementation(const reading::TraceOptions& options) : trace(options) {}

    reading::Trace trace;
    const trace::TraceReader& reader() const { return trace.reader(); }
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
    return result;
}

} // namespace

TraceFile::TraceFile(const std::string& path, const TraceFileOptions& options)
    : trace_(std::make_unique<Implementation>(options_of(path, options))) {}

TraceFile::~TraceFile() = default;
TraceFile::TraceFile(TraceFile&& other) noexcept = default;
TraceFile& TraceFile::operator=(TraceFile&& other) noexcept = default;

const Event* TraceFile::next() {
    return trace_->trace.next();
}

void TraceFile::seek_number(std::uint64_t number) {
    trace_->trace.seek_number(number);
}

void TraceFile::seek_time(std::uint64_t nanoseconds) {
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

std::span<const abi::RegionEntry> TraceFile::regions() const {
    return trace_->reader().regions();
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

} // namespace mmioscope
