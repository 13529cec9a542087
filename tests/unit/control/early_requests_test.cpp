#include "control/early_requests.hpp"

#include "abi/layout.hpp"
#include "catch_2_or_3.hpp"
#include "sim/board_tree.hpp"

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
