#include "control/early_requests.hpp"

#include "abi/chosen.hpp"
#include "catch_2_or_3.hpp"
#include "early_cases.hpp"
#include "sim/board_tree.hpp"
#include "unit/control/asking.hpp"

#include <functional>
#include <libfdt.h>

using namespace mmioscope;
using namespace mmioscope::sim;

namespace {

/// What the board's tree says after `edit`, which is given the blob and /chosen.
std::pair<EarlyRequests, std::string> requests_of(const TreeOptions& options,
                                                  const std::function<int(void*, int)>& edit = {}) {
    Blob blob = with_room(make_board_tree(options));
    if (edit) REQUIRE(edit(blob.data(), fdt_path_offset(blob.data(), "/chosen")) == 0);
    EarlyRequests read{};
    const BootError error = read_requests(tree_of(blob), read);
    return {read, error ? error.what : ""};
}

/// As a reader does: a change whose record finds no room is refused.
void empty_ring(Rig& rig) {
    std::byte* area = rig.simulation.ram.at({rig.machine->image.area.begin});
    const auto& header = *reinterpret_cast<const abi::AreaHeader*>(area);
    auto& ring = *reinterpret_cast<abi::RingHeader*>(area + header.ring_offset[0]);
    ring.readers[abi::host_reader].tail = ring.head;
}

} // namespace

TEST_CASE("requests are read three cells each, unchecked; a torn property is an error") {
    CHECK(requests_of({}).first.empty());
    const auto [requests, error] = requests_of({.requests = {24, 3, 0, 0xffff'ffff, 1, 2}});
    CHECK(error == "");
    REQUIRE(requests.size() == 2);
    CHECK(requests[0].command == 24);
    CHECK(requests[0].argument[0] == 3);
    CHECK(requests[1].command == 0xffff'ffff);
    CHECK(requests[1].argument[1] == 2);
    for (int length = 1; length <= 36; ++length) {
        CAPTURE(length);
        const char bytes[36]{};
        const auto read = requests_of({}, [&](void* blob, int chosen) {
            return fdt_setprop(blob, chosen, abi::chosen::requests, bytes, length);
        });
        CHECK(
            read.second ==
            (length % 12 == 0 ? "" : "mmioscope,requests must have three cells for each request"));
    }
    const std::vector<std::uint32_t> most(3 * abi::chosen::max_requests, 15);
    CHECK(requests_of({.requests = most}).second == "");
    std::vector<std::uint32_t> more = most;
    more.insert(more.end(), 3, 15);
    CHECK(requests_of({.requests = more}).second == "mmioscope,requests has more than 32 requests");
}

// The other half is tests/host-tools/test_early_requests.cpp.
TEST_CASE("a boot refuses what every boot refuses, and nothing else but for its devices") {
    unsigned accepted = 0, refused = 0;
    as_guest(options_for(abi::EngineKind::shadow, 1, 1), [&](Rig& rig, mmioscope::Cpu& cpu) {
        for (const test::EarlyCase& one : test::early_cases(1, {at::fifo, at::wide, at::gic})) {
            INFO(one.words << ": " << int(one.request.command) << " " << one.request.argument[0]
                           << " " << one.request.argument[1]);
            const auto reply =
                control_of(*cpu.machine).execute(cpu, one.request, When::before_first_instruction);
            REQUIRE(reply.has_value());
            const Status expected = check_early(one.request);
            const bool of_machine = reply->status == Status::no_device ||
                                    reply->status == Status::finer ||
                                    reply->status == Status::fixed;
            if (expected == Status::done) REQUIRE((reply->status == Status::done || of_machine));
            else REQUIRE(reply->status == expected);
            (reply->status == Status::done ? accepted : refused) += 1;
            empty_ring(rig);
        }
    });
    CHECK(accepted > 1000);
    CHECK(refused > 2000);
}
