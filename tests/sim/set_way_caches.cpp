#include "set_way_caches.hpp"

#include "scheduler.hpp"

#include <algorithm>
#include <bit>

namespace mmioscope::sim {

std::uint32_t SetWayCaches::clidr() const {
    constexpr std::uint32_t instructions = 1, separate = 3;
    auto value = static_cast<std::uint32_t>(levels_.size()) << 24;
    for (unsigned n = 0; n < levels_.size(); ++n)
        value |= (levels_[n].data ? separate : instructions) << (3 * n);
    return value;
}

SetWayCaches::Line SetWayCaches::at_random(unsigned level) {
    const CacheLevel& cache = levels_.at(level);
    return {level, static_cast<unsigned>(random_.below(cache.sets)),
            static_cast<unsigned>(random_.below(cache.ways))};
}

void SetWayCaches::store() {
    lines_.push_back({posted, 0, 0});
}

void SetWayCaches::fill(unsigned level) {
    if (levels_.at(level).data) lines_.push_back(at_random(level));
}

void SetWayCaches::clean(std::uint32_t operand) {
    const unsigned level = operand >> 1 & 7;
    const CacheLevel& cache = levels_.at(level);
    const unsigned way_bits = static_cast<unsigned>(std::bit_width(cache.ways - 1));
    const unsigned way = way_bits == 0 ? 0 : operand >> (32 - way_bits);
    const unsigned set = (operand & (~0u >> way_bits)) >> cache.log2_line;
    if (!cache.data) throw Failure{"maintenance of a level without a data cache"};
    if (set >= cache.sets || way >= cache.ways) throw Failure{"maintenance of a line that is not"};
    asked_.push_back({level, set, way});
}

/// To the first level behind its own that caches data, or to memory.
void SetWayCaches::move_on(Line& line) {
    unsigned next = line.level + 1; // 0 from the store buffer
    while (next < levels_.size() && !levels_[next].data) ++next;
    line = next < levels_.size() ? at_random(next) : Line{next, 0, 0};
}

void SetWayCaches::write_buffer() {
    for (Line& line : lines_)
        if (line.level == posted) move_on(line);
}

void SetWayCaches::carry_out() {
    const bool last_first = random_.one_in(2);
    std::stable_sort(asked_.begin(), asked_.end(), [last_first](const Line& a, const Line& b) {
        return last_first ? a.level > b.level : a.level < b.level;
    });
    for (const Line& asked : asked_)
        for (Line& line : lines_)
            if (line.level == asked.level && line.set == asked.set && line.way == asked.way)
                move_on(line);
    asked_.clear();
    std::erase_if(lines_, [this](const Line& line) {
        return line.level != posted && line.level >= levels_.size();
    });
}

void SetWayCaches::complete() {
    if (random_.one_in(2)) write_buffer();
    carry_out();
    write_buffer();
}

unsigned SetWayCaches::dirty(unsigned level) const {
    return static_cast<unsigned>(std::count_if(lines_.begin(), lines_.end(), [=](const Line& line) {
        return line.level == posted || line.level <= level;
    }));
}

} // namespace mmioscope::sim
