// The boot loader's device tree is input: for any content, the result must be a region table or an
// error, and must agree with libfdt.
#include "base/check.hpp"
#include "control/early_requests.hpp"
#include "dt/board.hpp"
#include "dt/config.hpp"
#include "dt/guest_tree.hpp"
#include "dt/regions.hpp"
#include "stream/options.hpp"
#include "task_names/offsets.hpp"
#include "unit/dt/against_libfdt.hpp"

#include <cstdlib>
#include <cstring>
#include <memory>
#include <vector>

#ifndef LLVMFuzzerTestOneInput // in the fuzzer itself; the unit tests' machine has its own
namespace mmioscope {
void panic(const char*) {
    std::abort();
}
} // namespace mmioscope
#endif

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace mmioscope;
    if (size < 8) return 0; // the caller maps at least a page
    std::vector<std::uint64_t> aligned((size + 7) / 8);
    std::memcpy(aligned.data(), data, size);
    static Tree tree;
    if (tree.read(aligned.data(), size)) return 0;
    if (difference_from_libfdt(tree) != "") std::abort();

    const auto regions = std::make_unique<RegionTable>();
    const auto map = std::make_unique<RegionMap>();
    MemoryMap memory;
    Config config;
    int beyond_reach = -1;
    if (list_regions(tree, *regions, beyond_reach) || !map->build(*regions)) return 0;
    if (list_memory(tree, memory) || carve(memory, {0x8800'0000, 0x8d00'0000})) return 0;
    if (!read_config(tree, config)) { // the boot stops there; services count on /chosen
        StreamOptions stream;
        (void)read_stream_options(tree, stream);
        EarlyRequests requests;
        (void)read_requests(tree, requests);
        TaskOffsets offsets;
        (void)read_task_offsets(tree, offsets);
    }
    (void)select_traced(tree, *regions, *map);
    Board board{};
    (void)read_board(tree, board);
    std::vector<std::uint64_t> out((size + 65536) / 8);
    if (!make_guest_tree(tree, memory, config.modules,
                         std::span(&board.uart_node, board.uart_node < 0 ? 0u : 1u), out.data(),
                         out.size() * 8) &&
        fdt_check_full(out.data(), out.size() * 8) != 0)
        std::abort();
    return 0;
}
