// Permitted differences between decoder and disassembler, each with the section of DDI 0406C that
// explains it.
#pragma once

#include "facts.hpp"

#include <span>
#include <string_view>

namespace mmioscope::decoder_test {

/// One instruction as both sides see it.
struct Pair {
    Set set;
    std::uint32_t word;
    Facts ours;
    Facts theirs;
    std::string_view line;
};

/// The sets in which a difference must occur.
enum class Where { both, arm, thumb };

struct Difference {
    Where where;
    const char* text;
    const char* section;
    bool (*applies)(const Pair&);
};

/// Whether there is no difference.
bool same(const Facts& ours, const Facts& theirs);

std::span<const Difference> listed_differences();
bool belongs_to(const Difference& difference, Set set);

} // namespace mmioscope::decoder_test
