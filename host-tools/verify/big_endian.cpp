#include "verify/big_endian.hpp"

#include <algorithm>
#include <array>
#include <string_view>
#include <vector>

namespace mmioscope::verify {

namespace {

// QEMU's names of memory regions (hw/nvram/fw_cfg.c).
constexpr std::array<std::string_view, 3> big_endian = {"fwcfg.ctl", "fwcfg.data", "fwcfg.dma"};

std::uint64_t swapped(std::uint64_t value, unsigned size) {
    return size == 0 || size > 8 ? value : __builtin_bswap64(value) >> (64 - 8 * size);
}

} // namespace

void swap_big_endian(importing::AccessLog& log) {
    std::vector<bool> is_big(log.regions.size());
    for (std::size_t i = 0; i < is_big.size(); ++i) {
        is_big[i] = std::ranges::find(big_endian, log.regions[i]) != big_endian.end();
    }
    for (importing::Line& line : log.lines) {
        if (line.kind == importing::LineKind::access && is_big[line.region]) {
            line.value = swapped(line.value, line.size);
        }
    }
}

} // namespace mmioscope::verify
