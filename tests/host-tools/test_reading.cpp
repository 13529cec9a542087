// Events: records with their names.
#include "reading/naming.hpp"
#include "records.hpp"
#include "system/byte_source.hpp"

using namespace mmioscope;
using namespace mmioscope::test;

TEST_CASE("an event has its record's device, offset and time") {
    const std::vector<std::byte> bytes = trace_bytes([](trace::FileWriter& writer) {
        write_info(writer);
        write_regions(writer, {region(0x1c09'0000, 0x1000, "/bus/serial@90000")});
        abi::Record record = access(0, 0, 5'000'000);
        record.pa_low += 0x18;
        writer.append(std::span(&record, 1));
        record.time += 1'500'000;
        record.device = abi::no_device;
        writer.append(std::span(&record, 1));
        writer.finish(0, abi::Ending::machine_off);
    });
    MemorySource source(bytes);
    trace::TraceReader reader(source, [](const std::string& text) { FAIL(text); });
    reading::Naming naming(reader);
    const auto records = reader.next();
    REQUIRE(records.size() == 2);
    const Event first = naming.event(records[0]);
    CHECK(first.device() == "serial@90000");
    CHECK(first.offset() == 0x18);
    CHECK(first.nanoseconds == 0);
    const Event second = naming.event(records[1]);
    CHECK(second.device() == "-");
    CHECK(second.offset() == 0x1c09'0018);
    CHECK(second.nanoseconds == 1'500'000'000);
}
