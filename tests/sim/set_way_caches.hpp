// A CPU's data caches as maintenance by set and way meets them (ARM ARM B2.2.7): where a stored
// line is on its way to memory, at which level, and what has been asked for but is not done.
#pragma once

#include "random.hpp"

#include <cstdint>
#include <vector>

namespace mmioscope::sim {

/// One level, as CCSIDR describes it.
struct CacheLevel {
    bool data; ///< otherwise it has instructions alone, or there is none
    unsigned log2_line;
    unsigned sets;
    unsigned ways;

    std::uint32_t ccsidr() const { return (sets - 1) << 13 | (ways - 1) << 3 | (log2_line - 4); }
};

class SetWayCaches {
public:
    SetWayCaches(std::vector<CacheLevel> levels, Random& random)
        : levels_(std::move(levels)), random_(random) {}

    /// CLIDR: the type of each level, and the number of levels to the point of coherency (B4.1.20).
    std::uint32_t clidr() const;
    const CacheLevel& level(unsigned n) const { return levels_.at(n); }

    /// A store that has retired: it waits in the store buffer, until a DSB at the latest.
    void store();
    /// A dirty line, written before that.
    void fill(unsigned level);
    /// DCCISW, whose operand has level, set and way. Done at any time up to the next DSB; what
    /// several levels were asked for in any order of the levels (Cortex-A7 erratum 814220).
    void clean(std::uint32_t operand);
    void complete(); ///< DSB

    /// Lines that are not in memory: of `level` and below, or still in the store buffer.
    unsigned dirty(unsigned level) const;

private:
    struct Line {
        unsigned level; ///< `posted`: in the store buffer
        unsigned set;
        unsigned way;
    };
    static constexpr unsigned posted = ~0u;

    void write_buffer();
    void carry_out();
    Line at_random(unsigned level);
    void move_on(Line& line);

    std::vector<CacheLevel> levels_;
    Random& random_;
    std::vector<Line> lines_; ///< that are not in memory
    std::vector<Line> asked_; ///< for
};

} // namespace mmioscope::sim
