// Findings as a table, for people and for programs, and as a page of HTML.
#pragma once

#include "diff/alike.hpp"
#include "diff/boot.hpp"
#include "diff/finding.hpp"
#include "table/table.hpp"

#include <cstddef>
#include <span>
#include <string>
#include <vector>

namespace mmioscope::diff {

table::Table table_of(std::span<const Finding> findings);

/// The compared boots.
struct Heading {
    std::vector<std::string> a;     ///< files
    std::string b;                  ///< likewise
    std::vector<std::string> notes; ///< lines above the findings
    std::string verdict = {};       ///< the conclusion; empty: verdict() of the findings
};

/// The number of sure findings.
std::size_t count_sure(std::span<const Finding> findings);

/// Lines about the comparison as a whole: what was not compared.
std::vector<std::string> notes(const Alike& alike, std::span<const Boot> boots);

/// "same: ..." or "different: 2 sure, 1 less sure".
std::string verdict(std::span<const Finding> findings);

/// A page that needs no other file: A on the left, B on the right.
std::string html(std::span<const Finding> findings, const Heading& heading);

} // namespace mmioscope::diff
