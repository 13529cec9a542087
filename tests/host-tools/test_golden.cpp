// Each file in tests/golden: a trace as text (trace_text.hpp), a line "----", and the lines that
// are to be printed of it. MMIOSCOPE_GOLDEN=update writes what is printed into the files.
#include "lib/byte_source.hpp"
#include "reading/naming.hpp"
#include "records.hpp"
#include "trace_text.hpp"
#include "view/printer.hpp"

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>

using namespace mmioscope;
using namespace mmioscope::test;

namespace {

view::LineStyle style(const TraceText& text, const trace::TraceReader& reader) {
    view::LineStyle style = view::style_of(reader);
    style.raw = text.options.contains("raw");
    style.color = text.options.contains("color");
    style.pc = !text.options.contains("no-pc");
    style.duration = text.options.contains("duration");
    style.time = text.options.contains("abs")     ? view::TimeStyle::absolute
                 : text.options.contains("delta") ? view::TimeStyle::delta
                                                  : view::TimeStyle::relative;
    return style;
}

std::string printed(TraceText& text) {
    const FileDescriptor file = memory_file("trace", 0);
    write_trace(text, file.get());
    const std::vector<std::byte> bytes = contents(file.get());
    trace::MemorySource source(bytes);
    trace::TraceReader reader(source, [](const std::string& why) { FAIL(why); });
    reading::Naming naming(reader);
    std::deque<Location> locations;
    char* buffer = nullptr;
    std::size_t size = 0;
    std::FILE* out = ::open_memstream(&buffer, &size);
    view::Printer printer(out, {.collapse = text.options.contains("collapse")},
                          style(text, reader));
    for (auto records = reader.next(); !records.empty(); records = reader.next()) {
        for (const abi::Record& record : records) {
            Event event = naming.event(record);
            add_names(event, text, locations);
            printer.add(event);
        }
    }
    printer.finish();
    std::fclose(out);
    const std::string lines(buffer, size);
    std::free(buffer); // NOLINT: open_memstream's
    return lines;
}

} // namespace

TEST_CASE("golden traces") {
    unsigned files = 0;
    for (const auto& entry : std::filesystem::directory_iterator("tests/golden")) {
        INFO(entry.path());
        std::ifstream in(entry.path());
        TraceText text = read_trace_text(in);
        std::stringstream expected;
        if (in.peek() != EOF) {
            expected << in.rdbuf();
        }
        const std::string lines = printed(text);
        const char* mode = std::getenv("MMIOSCOPE_GOLDEN");
        if (mode != nullptr && std::string(mode) == "update") {
            std::stringstream all;
            all << std::ifstream(entry.path()).rdbuf();
            const std::string whole = all.str();
            std::ofstream(entry.path()) << whole.substr(0, whole.find("\n----\n") + 6) << lines;
        } else {
            CHECK(lines == expected.str());
        }
        ++files;
    }
    CHECK(files >= 5);
}
