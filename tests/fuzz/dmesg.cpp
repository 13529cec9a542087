// The guest's own text is input: what it wrote to a UART or printed on its console, and the user's
// log of it, must appear between a trace's events as one line each.
//
// The first byte selects whether the log is a file or the trace's own console text. The next two
// set how the times of console and UART advance. The rest is the log.
#include "file/console_text.hpp"
#include "file/file_writer.hpp"
#include "system/error.hpp"
#include "view/dmesg_lines.hpp"

#include <unistd.h>

#include <cstdlib>
#include <cstring>
#include <span>
#include <sstream>
#include <string>

namespace {

using namespace mmioscope;

constexpr std::int64_t second = 1'000'000'000;
constexpr std::uint32_t frequency = 1'000'000;

struct Input {
    bool own;               ///< the log is in the trace
    std::uint64_t steps[2]; ///< ticks from one piece to the next, and from one write to the next
    std::span<const std::uint8_t> log;
};

/// May wrap: a trace may contain any times.
std::uint64_t step_of(std::uint8_t byte) {
    return byte < 128 ? byte * byte : ~std::uint64_t{0} >> byte % 64;
}

abi::Record first_write() {
    abi::Record record{};
    record.type = abi::RecordType::access;
    record.access = abi::encode_access(true, 0);
    record.pa_low = 0x1c09'0000;
    record.time = 1000;
    return record;
}

/// A trace that begins with a write to the UART, and has the console's text in pieces.
FileDescriptor trace_with(const Input& input) {
    FileDescriptor file = memory_file("trace", 0);
    trace::WriteProgress progress;
    trace::FileWriter writer(file.get(), progress);
    abi::Info info{};
    info.counter_frequency = frequency;
    info.cpu_count = 1;
    info.record_size = sizeof(abi::Record);
    info.region_size = sizeof(abi::RegionEntry);
    writer.values(abi::SectionType::info, std::span<const abi::Info>(&info, 1));
    abi::RegionEntry uart{};
    uart.base = 0x1c09'0000;
    uart.size = 0x1000;
    std::strcpy(uart.path, "/serial@90000");
    writer.values(abi::SectionType::regions, std::span<const abi::RegionEntry>(&uart, 1));
    std::uint64_t time = 1000;
    for (auto left = input.log; input.own && !left.empty(); time += input.steps[0]) {
        const auto piece = left.first(std::min<std::size_t>(left.size(), 40));
        left = left.subspan(piece.size());
        const trace::ConsoleHeader header{time, piece.size()};
        std::string payload(reinterpret_cast<const char*>(&header), sizeof header);
        payload.append(piece.begin(), piece.end());
        writer.section(trace::console_section, std::as_bytes(std::span(payload)));
    }
    const abi::Record record = first_write();
    writer.append(std::span<const abi::Record>(&record, 1));
    writer.finish(0, abi::Ending::machine_off);
    return file;
}

std::string path_of(const FileDescriptor& file) {
    return "/proc/self/fd/" + std::to_string(file.get());
}

void expect(bool what) {
    if (!what) {
        std::abort();
    }
}

/// Passes the trace's writes to the UART to `seen`.
template <typename See>
void play(const Input& input, See&& seen) {
    Event event;
    event.record = first_write();
    for (const std::uint8_t byte : input.log) {
        event.record.value = byte;
        seen(event);
        event.record.time += input.steps[1];
        event.nanoseconds = trace::nanoseconds(event.record.time - 1000, frequency);
    }
}

/// Computes the start of the log like `print --dmesg`.
std::int64_t begin_of(const Input& input) {
    std::istringstream in(std::string(input.log.begin(), input.log.end()));
    const std::vector<analysis::DmesgLine> lines = analysis::read_dmesg(in);
    for (const analysis::DmesgLine& line : lines) {
        expect(line.nanoseconds >= 0 && line.nanoseconds <= second * second &&
               line.text.find('\n') == std::string::npos);
    }
    analysis::DmesgOffset offset(lines);
    play(input, [&offset](const Event& event) { offset.add(event); });
    expect(offset.estimate().has_value() == (offset.lines_seen() > 0) && offset.half_within() >= 0);
    return offset.estimate().value_or(0);
}

void print(const Input& input) try {
    static std::FILE* nowhere = std::fopen("/dev/null", "w");
    const FileDescriptor file = trace_with(input);
    const FileDescriptor log = memory_file("log", 0);
    append(log.get(), std::as_bytes(input.log), "the log");
    reading::TraceOptions options;
    options.path = path_of(file);
    view::DmesgLines lines(input.own ? "" : path_of(log), begin_of(input), options);
    ::lseek(file.get(), 0, SEEK_SET);
    FileSource source(file.get());
    const trace::TraceReader reader(source, [](const std::string&) { std::abort(); });
    view::Printer printer(nowhere, {}, view::style_of(reader));
    lines.print_to(printer, reader);
    play(input, [&](const Event& event) {
        lines.add(event);
        printer.add(event);
    });
    lines.finish();
    printer.finish();
} catch (const Error& error) {
    expect(std::string_view(error.what()).find('\n') == std::string_view::npos);
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    if (size >= 3) {
        print({data[0] % 2 != 0, {step_of(data[1]), step_of(data[2])}, {data + 3, size - 3}});
    }
    return 0;
}
