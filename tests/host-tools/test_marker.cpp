// Markers with a text in several pieces, as lines.
#include "abi/control.hpp"
#include "reading/drive.hpp"
#include "records.hpp"
#include "system/byte_source.hpp"
#include "view/printer.hpp"

#include <cstdlib>
#include <cstring>

using namespace mmioscope;
using abi::control::Command;

namespace {

abi::Record piece(std::uint16_t id, const char (&text)[9], unsigned cpu = 0) {
    abi::Record record{};
    record.type = abi::RecordType::marker;
    record.cpu = static_cast<std::uint8_t>(cpu);
    record.time = id;
    record.pa_low = static_cast<std::uint32_t>(Command::marker_text) | std::uint32_t{id} << 16;
    std::memcpy(&record.value, text, sizeof record.value);
    return record;
}

abi::Record number(std::uint64_t value) {
    abi::Record record{};
    record.type = abi::RecordType::marker;
    record.pa_low = static_cast<std::uint32_t>(Command::marker);
    record.value = value;
    return record;
}

std::string printed(const std::vector<abi::Record>& records) {
    char* text = nullptr;
    std::size_t size = 0;
    std::FILE* const out = open_memstream(&text, &size);
    const std::vector<std::byte> bytes = test::trace_bytes([&](trace::FileWriter& writer) {
        test::write_info(writer);
        writer.append(records);
        writer.finish(0, abi::Ending::machine_off);
    });
    MemorySource source(bytes);
    reading::TraceOptions options;
    options.start = 0;
    reading::Trace trace(options, source);
    view::Printer printer(out, {.collapse = true}, view::style_of(trace.reader()));
    reading::drive(trace, {&printer});
    std::fclose(out);
    const std::string all(text, size);
    std::free(text);
    return all.substr(std::min(all.size(), all.find('\n') + 1)); // without the titles
}

} // namespace

TEST_CASE("a marker's text is one line, at its last piece") {
    CHECK(printed({piece(5, "a longer"), piece(6, " text th"), piece(7, "an one\0\0")}) ==
          "    0.000007 cpu0 mark \"a longer text than one\"\n");
    CHECK(printed({piece(5, "short\0\0\0"), number(7)}) ==
          "    0.000005 cpu0 mark \"short\"\n    0.000000 cpu0 mark 7\n");
    CHECK(printed({piece(0xffff, "eight ch"), piece(0, "\0\0\0\0\0\0\0\0")}) ==
          "    0.000000 cpu0 mark \"eight ch\"\n");
}

TEST_CASE("texts written at the same time stay separate, whatever CPU has their pieces") {
    const std::vector<abi::Record> records = {piece(5, "this is "), piece(900, "of anoth", 1),
                                              number(3), piece(6, "mine\0\0\0\0", 1),
                                              piece(901, "er\0\0\0\0\0\0")};
    CHECK(printed(records) == "    0.000000 cpu0 mark 3\n"
                              "    0.000006 cpu1 mark \"this is mine\"\n"
                              "    0.000901 cpu0 mark \"of another\"\n");
}

TEST_CASE("a text without its end is printed as far as it came") {
    CHECK(printed({piece(5, "a \"tex\"\n"), number(1)}) ==
          "    0.000000 cpu0 mark 1\n    0.000005 cpu0 mark \"a \\x22tex\\x22\\x0a\"...\n");
    std::vector<abi::Record> many;
    for (std::uint16_t id = 0; id < 60; id = static_cast<std::uint16_t>(id + 3)) {
        many.push_back(piece(id, "a piece."));
    }
    const std::string lines = printed(many);
    CHECK(std::count(lines.begin(), lines.end(), '\n') == 20);
    std::vector<abi::Record> endless;
    for (std::uint16_t id = 0; id < 1200; ++id) {
        endless.push_back(piece(id, "a piece."));
    }
    const std::string ended = printed(endless);
    CHECK(std::count(ended.begin(), ended.end(), '\n') == 3);
    CHECK(ended.size() > 1200 * 8);
}

TEST_CASE("a marker does not hide an access that has begun and not ended") {
    abi::Record begin{};
    begin.type = abi::RecordType::begin;
    begin.cpu_sequence = 5;
    abi::Record mark = number(1);
    mark.cpu_sequence = 6;
    abi::Record later = begin;
    later.type = abi::RecordType::access;
    later.cpu_sequence = 7;
    CHECK(printed({begin, mark, later}).find("begun, no end recorded") != std::string::npos);
}
