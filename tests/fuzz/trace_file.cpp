// A trace file is input: its readers must return records that the file holds, or report damage. It
// is read as a whole, through its index, from a zstd stream, with itself as its next files, like
// `mmioscope check`, and like `mmioscope print`, with all names that the trace gives to devices,
// registers, code, modules and tasks. An input that begins with 1 has the contents of sections:
// they get the checksums that random bytes would never match.
#include "file/trace_check.hpp"
#include "file/trace_reader.hpp"
#include "reading/drive.hpp"
#include "system/crc.hpp"
#include "system/error.hpp"
#include "system/escape.hpp"
#include "system/open_source.hpp"
#include "view/printer.hpp"

#include <zstd.h>

#include <cstdlib>
#include <cstring>
#include <memory>
#include <optional>
#include <span>
#include <vector>

namespace {

using namespace mmioscope;
using namespace mmioscope::trace;

/// Returns whether there are records.
bool read(ByteSource& source, std::optional<TimeSpan> times = {}) try {
    TraceReader trace(source, [](const std::string&) {});
    if (times) {
        trace.select({*times, {}, false});
    }
    bool any = false;
    while (!trace.next().empty()) {
        any = true;
    }
    return any;
} catch (const mmioscope::Error&) {
    return false; // one clear line, as a command prints it
}

// Each file that says so goes on, except the third.
void read_parts(std::span<const std::byte> bytes, std::optional<TimeSpan> times = {}) try {
    MemorySource first(bytes);
    TraceReader trace(first, [](const std::string&) {});
    trace.go_on_with([&bytes](const TraceReader& reader) {
        return reader.parts() < 3 ? NextPart{"next", std::make_unique<MemorySource>(bytes), ""}
                                  : NextPart{"next", nullptr, "no more"};
    });
    if (times) {
        trace.select({*times, {}, false});
    }
    while (!trace.next().empty()) {
    }
    if (trace.parts() > 3 || (trace.missing_part().empty() && trace.parts() == 3 && trace.sound() &&
                              trace.end()->ending == mmioscope::abi::Ending::continued)) {
        std::abort();
    }
} catch (const mmioscope::Error&) {
}

void check(ByteSource& source) try { check_trace(source); } catch (const mmioscope::Error&) {
}

/// A file with sections, each from a type, a length and a payload.
std::vector<std::byte> sound_file(std::span<const std::uint8_t> contents) {
    namespace abi = mmioscope::abi;
    std::vector<std::byte> file;
    const auto put = [&file](const auto& bytes) {
        const auto all = std::as_bytes(std::span(bytes));
        file.insert(file.end(), all.begin(), all.end());
    };
    abi::FileHeader header{};
    std::memcpy(header.magic, abi::file_magic, sizeof header.magic);
    header.endianness = abi::file_endianness;
    header.version_major = abi::file_version_major;
    header.version_minor = abi::file_version_minor;
    header.header_size = sizeof header;
    header.header_crc = crc_before(header, offsetof(abi::FileHeader, header_crc));
    put(std::span(&header, 1));
    while (contents.size() >= 3) {
        abi::SectionHeader section{};
        section.magic = abi::section_magic;
        const bool packed = (contents[0] & 0x80) != 0;
        section.type =
            static_cast<abi::SectionType>((contents[0] & 0x7f) | (packed ? abi::section_zstd : 0));
        const std::size_t announced = contents[1] | contents[2] << 8;
        contents = contents.subspan(3);
        std::span<const std::uint8_t> payload =
            contents.first(std::min(announced, contents.size()));
        contents = contents.subspan(payload.size());
        std::vector<std::uint8_t> frame;
        if (packed) {
            frame.resize(ZSTD_compressBound(payload.size()));
            frame.resize(
                ZSTD_compress(frame.data(), frame.size(), payload.data(), payload.size(), 1));
            payload = frame;
        }
        section.size = payload.size();
        section.crc = crc(std::as_bytes(payload));
        section.header_crc = crc_before(section, offsetof(abi::SectionHeader, header_crc));
        put(std::span(&section, 1));
        put(payload);
        file.resize((file.size() + 7) / 8 * 8);
    }
    return file;
}

// With any content, one event must be one line, without control characters.
void expect_a_line(std::string_view line) {
    if (line.empty() || mmioscope::printable(line) != line) {
        std::abort();
    }
}

class ExpectLines final : public mmioscope::reading::Consumer {
public:
    explicit ExpectLines(const mmioscope::view::LineStyle& style) : format_(style) {}

    void add(const mmioscope::Event& event) override {
        line_.clear();
        format_.append(line_, event);
        expect_a_line(line_.view());
    }
    void add_unended(const mmioscope::Event& marker) override { add(marker); }
    void forget() override { format_.forget(); }

private:
    mmioscope::view::LineFormat format_;
    mmioscope::TextBuffer line_;
};

void print(ByteSource& source) try {
    static std::FILE* nowhere = std::fopen("/dev/null", "w");
    mmioscope::reading::TraceOptions options;
    options.report = expect_a_line;
    mmioscope::reading::Trace trace(options, source);
    const mmioscope::view::LineStyle style = mmioscope::view::style_of(trace.reader());
    mmioscope::view::PrintOptions collapsed;
    collapsed.collapse = true;
    mmioscope::view::Printer printer(nowhere, collapsed, style);
    ExpectLines lines(style);
    mmioscope::reading::drive(trace, {&lines, &printer});
} catch (const mmioscope::Error& error) {
    expect_a_line(error.what());
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const bool contents = size > 0 && data[0] == 1;
    const std::vector<std::byte> made =
        contents ? sound_file({data + 1, size - 1}) : std::vector<std::byte>();
    const auto bytes = contents ? std::span(made) : std::as_bytes(std::span(data, size));
    MemorySource whole(bytes);
    const bool any = read(whole);
    // A time, perhaps one in the trace.
    std::uint64_t time = 0;
    const std::size_t middle = bytes.size() / 2 / 8 * 8;
    std::memcpy(&time, bytes.data() + middle, middle + 8 <= bytes.size() ? 8 : 0);
    MemorySource ranged(bytes);
    read(ranged, TimeSpan{time, time + 1000});
    read_parts(bytes);
    read_parts(bytes, TimeSpan{time, time + 1000});
    if (is_compressed(bytes)) {
        MemorySource compressed(bytes);
        CompressedSource decompressed(compressed, bytes);
        read(decompressed);
    }
    MemorySource checked(bytes);
    check(checked);
    MemorySource printed(bytes);
    if (any) { // the registers' descriptions take longer than all the rest
        print(printed);
    }
    return 0;
}
