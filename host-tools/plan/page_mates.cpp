#include "plan/page_mates.hpp"

#include <cstring>
#include <set>

namespace mmioscope::plan {

std::vector<std::uint16_t> page_mates(const Survey& board, std::uint16_t of) {
    std::set<std::uint16_t> mates;
    for (const Span& own : board.map) {
        if (own.region != of) {
            continue;
        }
        const Range pages{page_floor(own.range.begin), page_ceil(own.range.end)};
        for (const Span& other : board.map) {
            if (other.range.overlaps(pages) &&
                std::strcmp(board.regions[other.region].path, board.regions[of].path) != 0) {
                mates.insert(other.region);
            }
        }
    }
    return {mates.begin(), mates.end()};
}

} // namespace mmioscope::plan
