// Where decoder and disassembler may differ, each with the section of DDI 0406C that says why.
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

/// Which sets a difference must occur in.
enum class Where { both, arm, thumb };

struct Difference {
    Where where;
    const char* text;
    const char* section;
    bool (*applies)(const Pair&);
};

/// Nothing they could differ in.
bool same(const Facts& ours, const Facts& theirs);

std::span<const Difference> listed_differences();
bool belongs_to(const Difference& difference, Set set);

} // namespace mmioscope::decoder_test
