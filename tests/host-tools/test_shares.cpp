// Shared devices, in made-up records.
#include "records.hpp"
#include "records/shares.hpp"
#include "table/table.hpp"
#include "trees.hpp"

using namespace mmioscope;
using namespace mmioscope::test;

TEST_CASE("shares and waits are listed for devices that several CPUs use") {
    std::vector<abi::Record> records;
    const auto add = [&](unsigned cpu, std::uint32_t lock_sequence, std::uint64_t time) {
        abi::Record record = access(cpu, lock_sequence, time);
        record.duration = 10;
        records.push_back(record);
    };
    add(0, 1, 1'000);
    add(1, 2, 2'000);
    add(0, 3, 3'000);
    add(0, 4, 4'000);
    add(0, 5, 5'000);
    add(1, 6, 1'002'010); // three others between, and a second since 2,010
    abi::Record alone = access(0, 1, 1'002'020);
    alone.device = 1;
    records.push_back(alone);

    const std::vector<abi::RegionEntry> regions = {region(0x9000, 0x1000, "/bus/serial@9000"),
                                                   region(0xa000, 0x1000, "/bus/rtc@a000")};
    const tree::DeviceNames names(regions, small_tree());
    trace::Shares shares;
    shares.add(records);
    const std::string table = table::text(shares.table({&names, 0, 1'000'000}));
    INFO(table);
    CHECK(table.find("   0          4   66.7%            1        0.001990") != std::string::npos);
    CHECK(table.find("   1          2   33.3%            3        1.000000") != std::string::npos);
    CHECK(table.find("rtc") == std::string::npos);
}
