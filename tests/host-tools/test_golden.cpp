// Each file in tests/golden has a trace as text (trace_text.hpp), a line "----", and the lines that
// must be printed for it. MMIOSCOPE_GOLDEN=update writes the actual output into the files.
#include "reading/drive.hpp"
#include "records.hpp"
#include "system/byte_source.hpp"
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
    style.named = !text.registers.empty();
    style.raw = text.options.contains("raw");
    style.color = text.options.contains("color");
    style.pc = !text.options.contains("no-pc");
    style.duration = text.options.contains("duration");
    style.time = text.options.contains("abs")     ? view::TimeStyle::absolute
                 : text.options.contains("delta") ? view::TimeStyle::delta
                                                  : view::TimeStyle::relative;
    return style;
}

/// Passes events on with the names that `text` has for them.
class Renamed final : public reading::Consumer {
public:
    Renamed(TraceText& text, view::Printer& printer) : text_(text), printer_(printer) {}

    void add(const Event& event) override { printer_.add(renamed(event)); }
    void add_unended(const Event& marker) override { printer_.add_unended(renamed(marker)); }
    void finish() override { printer_.finish(); }

private:
    Event renamed(const Event& event) {
        Given given{.nanoseconds = event.nanoseconds,
                    .device = event.device(),
                    .offset = event.offset(),
                    .interrupt = event.interrupt(),
                    .text = event.text()};
        add_names(given, event.record, text_, locations_);
        return given_event(event.record, given);
    }

    TraceText& text_;
    view::Printer& printer_;
    std::deque<Location> locations_;
};

std::string printed(TraceText& text) {
    const FileDescriptor file = memory_file("trace", 0);
    write_trace(text, file.get());
    const std::vector<std::byte> bytes = contents(file.get());
    MemorySource source(bytes);
    reading::TraceOptions options;
    options.report = [](const std::string& why) { FAIL(why); };
    reading::Trace trace(options, source);
    char* buffer = nullptr;
    std::size_t size = 0;
    std::FILE* out = ::open_memstream(&buffer, &size);
    view::Printer printer(out, {.collapse = text.options.contains("collapse")},
                          style(text, trace.reader()));
    Renamed renamed(text, printer);
    reading::drive(trace, {&renamed});
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
