// `print --last N` makes lines of the last events only.
#include "allocations.hpp"
#include "reading/drive.hpp"
#include "reading/trace.hpp"
#include "records.hpp"
#include "view/column_line.hpp"
#include "view/printer.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>

using namespace mmioscope;
using namespace mmioscope::test;

namespace {

/// What is printed of `bytes`, a trace, and how often that allocates.
std::pair<std::string, std::size_t> printed(const std::vector<std::byte>& bytes,
                                            const view::PrintOptions& options) {
    char* text = nullptr;
    std::size_t size = 0;
    std::FILE* const out = ::open_memstream(&text, &size);
    MemorySource source(bytes);
    reading::Trace trace({}, source);
    view::Printer printer(out, options, view::style_of(trace.reader()));
    const Allocations allocations;
    reading::drive(trace, {&printer});
    const std::size_t calls = allocations.calls();
    std::fclose(out);
    std::string all(text, size);
    std::free(text); // NOLINT: open_memstream's
    return {std::move(all), calls};
}

} // namespace

TEST_CASE("the last lines are those of all, with gaps or without, and no others are made") {
    const bool collapse = GENERATE(false, true);
    constexpr std::uint32_t count = 20'000;
    const std::vector<std::byte> bytes = trace_bytes([](trace::FileWriter& writer) {
        write_info(writer);
        std::vector<abi::Record> records;
        for (std::uint32_t i = 0; i < count; ++i) { // and a gap before each 1,000th
            records.push_back(access(0, i, i + i / 1000 * 100'000'000));
            records.back().pc = i; // nothing repeats
        }
        writer.append(records);
        writer.finish(0, abi::Ending::machine_off);
    });
    for (const std::uint64_t gap : {0u, 1'000'000u}) {
        CAPTURE(collapse, gap);
        const std::string all = printed(bytes, {.collapse = collapse, .gap = gap}).first;
        const auto lines = static_cast<std::size_t>(std::ranges::count(all, '\n')) - 1; // titles
        CHECK(lines == count + (gap == 0 ? 0 : 19));
        std::size_t end = all.size();
        for (unsigned i = 0; i < 4; ++i) {
            end = all.rfind('\n', end - 1);
        }
        const auto [last, calls] = printed(bytes, {.collapse = collapse, .gap = gap, .last = 3});
        CHECK(last == all.substr(0, all.find('\n') + 1) +
                          fmt::format("... {} earlier lines, not printed", lines - 3) +
                          all.substr(end));
        CHECK(calls < count / 4);
    }
}
