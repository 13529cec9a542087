// What exports say of events; the expected text stands beside the trace.
#include "export/csv.hpp"
#include "export/json_text.hpp"
#include "export/jsonl.hpp"
#include "export/loss_finder.hpp"
#include "export/words.hpp"
#include "records.hpp"

using namespace mmioscope;
using namespace mmioscope::test;

namespace {

const Register data{"DR", 0, 4, "Data", {{"DATA", 0, 8, {{0x41, "letter"}}}, {"OE", 11, 1, {}}}};
const Location code{"pl011_putc", 0x1c, "amba", {{"inner", "pl011.c", 12}}};
const Task task{7, 7, "s\"h"};

// A store of 8 bytes with all that can be known of it.
struct Known {
    Known() {
        record = access(1, 9, 62'500'100);
        record.access = abi::encode_access(true, 3);
        record.value = 0xffff'ffff'0000'0841;
        record.duration = 125;
        record.flags = abi::flag_estimated;
        record.device = 0;
        record.va = 0xe000'1000;
        record.task = 0xc23f'0000;
        event.record = &record;
        event.nanoseconds = 1'600;
        event.device = "serial0";
        event.reg = &data;
        event.code = &code;
        event.task = &task;
    }
    abi::Record record;
    Event event;
};

std::string json(const Event& event) {
    fmt::memory_buffer text;
    exporting::append_json(text, event, 62'500'000);
    return fmt::to_string(text);
}

std::string csv(const Event& event) {
    fmt::memory_buffer text;
    exporting::append_csv(text, event, 62'500'000);
    return fmt::to_string(text);
}

std::string quoted(std::string_view text) {
    fmt::memory_buffer to;
    exporting::append_json(to, text);
    return fmt::to_string(to);
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
          "0xc23f0000,7,\"s\"\"h\",,,,9,9,estimated");
}

TEST_CASE("a loss and a marker have no address, in any format") {
    abi::Record record{};
    record.type = abi::RecordType::gap;
    record.value = 12;
    record.cpu_sequence = 3;
    Event event;
    event.record = &record;
    event.device = "-";
    CHECK(json(event) ==
          R"({"ns":0,"ticks":0,"cpu":0,"type":"lost","lost":12,"sequence":3})");
    record.type = abi::RecordType::marker;
    record.device = abi::no_device;
    event.text = "\"a, b\"";
    CHECK(json(event) ==
          R"({"ns":0,"ticks":0,"cpu":0,"type":"marker","value":"0xc","text":"a, b","sequence":3})");
    CHECK(csv(event) == "0,0,0,marker,,,,,,,0xc,,,,,,,,,,,,,,,\"a, b\",,3,,");
}

TEST_CASE("text in JSON is UTF-8, whatever it was") {
    CHECK(quoted("a\"\\\n\x7f") == R"("a\"\\\u000a\u007f")");
    CHECK(quoted("\xc3\xa4 \xe2\x82\xac \xf0\x9f\x98\x80") ==
          "\"\xc3\xa4 \xe2\x82\xac \xf0\x9f\x98\x80\"");
    CHECK(quoted("\xc3") == R"("\ufffd")");                     // cut
    CHECK(quoted("\xc0\xaf") == R"("\ufffd\ufffd")");           // overlong
    CHECK(quoted("\xed\xa0\x80") == R"("\ufffd\ufffd\ufffd")"); // a surrogate
    CHECK(quoted("\xf4\x90\x80\x80") == R"("\ufffd\ufffd\ufffd\ufffd")");
}

TEST_CASE("losses are found where records are missing, and by gap records, once each") {
    exporting::LossFinder finder;
    CHECK(!finder.add(access(0, 5, 1)));
    CHECK(!finder.add(access(0, 6, 2)));
    const auto hole = finder.add(access(0, 9, 3));
    REQUIRE(hole);
    CHECK((hole->first_sequence == 7 && hole->count == 2 && hole->time == 3));
    abi::Record gap = access(0, 11, 4);
    gap.type = abi::RecordType::gap;
    gap.value = 100;
    const auto both = finder.add(gap); // 10 is a hole, 11 to 110 are told of
    REQUIRE(both);
    CHECK((both->first_sequence == 10 && both->count == 101));
    CHECK(!finder.add(access(0, 111, 5)));
    CHECK(finder.lost() == 103);
    const std::vector<abi::Loss> told = {{0, 0, 5, 1},    {0, 7, 2, 3},   {0, 10, 1, 4},
                                         {0, 11, 100, 4}, {0, 112, 8, 5}, {1, 0, 2, 5}};
    const std::vector<abi::Loss> rest = finder.rest(told);
    REQUIRE(rest.size() == 3);
    CHECK((rest[0].count == 5 && rest[1].count == 8 && rest[2].count == 2));
}
