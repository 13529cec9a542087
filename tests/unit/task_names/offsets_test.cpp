#include "task_names/offsets.hpp"

#include "abi/chosen.hpp"
#include "catch_2_or_3.hpp"
#include "sim/board_tree.hpp"

#include <functional>
#include <libfdt.h>

using namespace mmioscope;
using namespace mmioscope::sim;

namespace {

/// What the board's tree says after `edit`, which is given the blob and /chosen.
std::pair<TaskOffsets, std::string> offsets_of(const TreeOptions& options,
                                               const std::function<int(void*, int)>& edit = {}) {
    Blob blob = with_room(make_board_tree(options));
    if (edit) REQUIRE(edit(blob.data(), fdt_path_offset(blob.data(), "/chosen")) == 0);
    TaskOffsets read{};
    const BootError error = read_task_offsets(tree_of(blob), read);
    return {read, error ? error.what : ""};
}

} // namespace

TEST_CASE("the place of task names is given as two offsets into a task") {
    CHECK(offsets_of({}).first.comm == 0);
    const auto [offsets, error] = offsets_of({.task_names = {0x3fc, 0x2a0}});
    CHECK(error == "");
    CHECK(offsets.comm == 0x3fc);
    CHECK(offsets.pid == 0x2a0);
    for (const std::vector<std::uint32_t>& cells :
         {std::vector<std::uint32_t>{4}, {4, 8, 12}, {4, 8, 12, 16}}) {
        CAPTURE(cells.size());
        CHECK(offsets_of({.task_names = cells}).second ==
              "mmioscope,task-names must have two cells");
    }
    CHECK(offsets_of({.task_names = {16'380, 4}}).second == "");
    for (const std::uint32_t wrong : {0u, 2u, 16'384u, 0xffff'fffcu, 0x8000'0000u}) {
        CAPTURE(wrong);
        constexpr char line[] =
            "mmioscope,task-names: offsets must be multiples of 4 from 4 to 16380";
        CHECK(offsets_of({.task_names = {wrong, 4}}).second == line);
        CHECK(offsets_of({.task_names = {4, wrong}}).second == line);
    }
    CHECK(offsets_of({}, [](void* blob, int chosen) {
              return fdt_setprop(blob, chosen, abi::chosen::task_names, "\0\0\0\4\0\0", 6);
          }).second == "mmioscope,task-names must have two cells");
}
