// Exports of events; the expected text is beside the trace.
#include "analysis/merging.hpp"
#include "export/columns.hpp"
#include "export/database.hpp"
#include "export/formats.hpp"
#include "export/row_text.hpp"
#include "reading/tally.hpp"
#include "records/ticks.hpp"
#include "sample_event.hpp"
#include "system/file_descriptor.hpp"
#include "wires.hpp"

using namespace mmioscope;
using namespace mmioscope::test;

namespace {

const Register data{"DR", 0, 4, "Data", {{"DATA", 0, 8, {{0x41, "letter"}}}, {"OE", 11, 1, {}}}};
const Location code{"pl011_putc", 0x1c, "amba", {{"inner", "pl011.c", 12}}};
const Task task{7, 7, "s\"h"};

// A store of 8 bytes with everything that can be known about it.
abi::Record known_record() {
    abi::Record record = access(1, 9, 62'500'100);
    record.access = abi::encode_access(true, 3);
    record.value = 0xffff'ffff'0000'0841;
    record.duration = 125;
    record.flags = abi::flag_estimated;
    record.device = 0;
    record.va = 0xe000'1000;
    record.task = 0xc23f'0000;
    return record;
}
struct Known {
    abi::Record record = known_record();
    Event event = given_event(
        record,
        {.nanoseconds = 1'600, .device = "serial0", .reg = &data, .code = &code, .task = &task});
};

exporting::RowText row(exporting::RowForm form) {
    return {form, {exporting::ColumnSet().set(), 62'500'000}};
}

std::string json(const Event& event) {
    fmt::memory_buffer text;
    row(exporting::RowForm::json).append(text, event);
    return fmt::to_string(text);
}

std::string csv(const Event& event) {
    fmt::memory_buffer text;
    row(exporting::RowForm::csv).append(text, event);
    return fmt::to_string(text);
}

} // namespace

TEST_CASE("an event as a line of JSON") {
    CHECK(json(Known().event) ==
          R"({"ns":1600,"ticks":62500100,"cpu":1,"type":"access","dir":"w","size":8,)"
          R"("device":"serial0","offset":"0x0","address":"0x1c090000","register":"DR",)"
          R"("value":"0xffffffff00000841","fields":"DATA=letter OE=1","duration_ns":2000,)"
          R"("pc":"0xc0000009","function":"pl011_putc+0x1c [amba]","source":"pl011.c:12",)"
          R"("va":"0xe0001000","mode":"svc","task":"0xc23f0000","pid":7,"comm":"s\"h",)"
          R"("sequence":9,"order":9,"flags":"estimated"})");
}

TEST_CASE("an event as a line of CSV") {
    CHECK(csv(Known().event) ==
          "1600,62500100,1,access,w,8,serial0,0x0,0x1c090000,DR,0xffffffff00000841,"
          "DATA=letter OE=1,2000,0xc0000009,pl011_putc+0x1c [amba],pl011.c:12,,,,0xe0001000,svc,"
          "0xc23f0000,7,\"s\"\"h\",,,,9,9,estimated,,");
}

TEST_CASE("each property of the code that made a read has its own column") {
    SampleEvent sample;
    sample.code.lines.push_back({"pl011_tx_chars", "outer.c", 7}); // where it was inlined
    sample.given.interrupt = "37 serial0";
    sample.record.mode |= abi::mode_thumb;
    sample.record.flags = abi::flag_boot;
    sample.given.offset = 0x19; // the upper byte of a register
    sample.record.access = abi::encode_access(false, 0);
    sample.record.value = 1;
    CHECK(json(sample.event()) ==
          R"({"ns":1500000000,"ticks":0,"cpu":1,"type":"access","dir":"r","size":1,)"
          R"("device":"serial0","offset":"0x19","address":"0x1c090018","register":"FR",)"
          R"("value":"0x1","fields":"MODE=run","duration_ns":640,)"
          R"("pc":"0xc0812344","function":"pl011_tx_chars+0x54",)"
          R"("source":"drivers/tty/serial/amba-pl011.c:42","lr":"0xc0900000",)"
          R"("caller":"uart_start+0x10 [snd_aaci]","sp":"0xc1001f00","va":"0xf0001018",)"
          R"("mode":"svc thumb","task":"0xc1234560","pid":57,"comm":"kworker/0:1",)"
          R"("interrupt":"37 serial0","sequence":9,"order":9,"flags":"boot"})");
    sample.given.offset = 0x18;
    sample.record.value = 0xff28; // one byte of it was read
    CHECK_THAT(json(sample.event()), Catch::Contains(R"("fields":"BUSY=1 TXFF=1",)"));
    sample.record.value = 1;
    sample.record.type = abi::RecordType::begin; // has no duration yet
    CHECK(json(sample.event()).find("duration") == std::string::npos);
    sample.record.type = abi::RecordType::configuration;
    CHECK(json(sample.event()).find(R"("value":"0x1")") != std::string::npos);
}

TEST_CASE("repeats are one event in each format, with the first one's place and a text") {
    class Log final : public exporting::Exporter {
    public:
        void begin(const trace::TraceReader&) override {}
        void add(const Event& event) override {
            text += json(event).substr(0, 10) + " " + std::string(event.text()) + "\n";
        }
        void finish() override { text += "end\n"; }
        std::string text;
    } log;
    analysis::Collapse collapse(1'000, log);
    for (std::uint32_t i = 0; i < 12; ++i) {
        abi::Record record = access(0, i, i);
        record.pc = i % 3 == 2 ? 0xc000'0008 : 0xc000'0004;
        record.pa_low += i % 3 == 2 ? 4 : 0;
        record.value = 7;
        Event event = given_event(record, {.nanoseconds = 100 + i});
        event.number = i + 1;
        collapse.add(event);
    }
    CHECK(log.text.empty()); // the window is open
    abi::Record late = access(1, 0, 5'000);
    collapse.add(given_event(late, {.nanoseconds = 5'000}));
    collapse.finish();
    CHECK(log.text == "{\"ns\":100, repeat events=8 last_event=11 last_ns=110\n"
                      "{\"ns\":102, repeat events=4 last_event=12 last_ns=111\n"
                      "{\"ns\":5000 \n"
                      "end\n");
}

TEST_CASE("an access of two words lies between those of either") {
    class Log final : public reading::Consumer {
    public:
        void add(const Event& event) override {
            text += fmt::format("{:x} {}\n", event.record.pa_low, event.text());
        }
        std::string text;
    } log;
    analysis::Collapse collapse(1'000, log);
    const auto to = [&collapse](std::uint32_t offset, unsigned log2_of_size) {
        abi::Record record = access(0, 0, 0);
        record.pa_low = 0x1000 + offset;
        record.access = abi::encode_access(false, log2_of_size);
        collapse.add(given_event(record, {}));
    };
    for (const std::uint32_t word : {0u, 4u, 8u}) {
        to(word, 2);
    }
    to(0, 3);
    for (const std::uint32_t word : {0u, 4u, 8u}) {
        to(word, 2);
    }
    collapse.finish();
    CHECK(log.text == "1000 \n1004 \n1008 x2\n1000 \n1000 \n1004 \n");
}

TEST_CASE("times remain exact after a year") {
    CHECK(trace::nanoseconds(62'500'000ull * 31'536'000 + 1, 62'500'000) == 31'536'000'000'000'016);
    CHECK(trace::nanoseconds(7, 0) == 7);
}

TEST_CASE("a CSV cell is quoted where needed") {
    SampleEvent sample;
    for (const char* const comm : {"a,b", "a\"b", "a\rb", "a\nb"}) {
        sample.task.comm = comm;
        const std::string quoted = comm[1] == '"' ? "\"a\"\"b\"" : fmt::format("\"{}\"", comm);
        CHECK_THAT(csv(sample.event()), Catch::Contains("," + quoted + ","));
    }
}

TEST_CASE("a loss and a marker have no address, in any format") {
    abi::Record record{};
    record.type = abi::RecordType::gap;
    record.value = 12;
    record.cpu_sequence = 3;
    CHECK(json(given_event(record)) ==
          R"({"ns":0,"ticks":0,"cpu":0,"type":"lost","lost":12,"sequence":3})");
    record.type = abi::RecordType::marker;
    record.device = abi::no_device;
    const Event event = given_event(record, {.text = "\"a, b\""});
    CHECK(json(event) ==
          R"({"ns":0,"ticks":0,"cpu":0,"type":"marker","value":"0xc","text":"a, b","sequence":3})");
    CHECK(csv(event) == "0,0,0,marker,,,,,,,0xc,,,,,,,,,,,,,,,\"a, b\",,3,,,,");
}

TEST_CASE("losses are found by missing records and by gap records, once each") {
    reading::LossFinder finder;
    CHECK(!finder.add(given_event(access(0, 5, 1))));
    CHECK(!finder.add(given_event(access(0, 6, 2))));
    const auto hole = finder.add(given_event(access(0, 9, 3)));
    REQUIRE(hole);
    CHECK((hole->first_sequence == 7 && hole->count == 2 && hole->time == 3));
    abi::Record gap = access(0, 11, 4);
    gap.type = abi::RecordType::gap;
    gap.value = 100;
    const auto both = finder.add(given_event(gap)); // 10 is a hole, 11 to 110 are reported
    REQUIRE(both);
    CHECK((both->first_sequence == 10 && both->count == 101));
    CHECK(!finder.add(given_event(access(0, 111, 5))));
    CHECK(!finder.add(given_event(access(1, 9, 5))));
    CHECK(!finder.add(given_event(access(1, 4, 5)))); // going back shows no loss
    CHECK(finder.lost() == 103);
    const std::vector<abi::Loss> recorded = {{0, 0, 5, 1},    {0, 7, 2, 3},   {0, 10, 1, 4},
                                             {0, 11, 100, 4}, {0, 112, 8, 5}, {2, 0, 2, 5}};
    const std::vector<abi::Loss> rest = finder.rest(recorded);
    REQUIRE(rest.size() == 3);
    CHECK((rest[0].count == 5 && rest[1].count == 8 && rest[2].count == 2));
}
