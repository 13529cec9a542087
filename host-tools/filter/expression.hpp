// A filter as a tree: the result of the parser, evaluated for each event.
#pragma once

#include "filter/field.hpp"

#include <functional>
#include <optional>
#include <variant>
#include <vector>

namespace mmioscope::filter {

/// Numbers from `first` to `last`, both included.
struct Range {
    std::uint64_t first = 0;
    std::uint64_t last = 0;
};
/// Empty ranges contain no number: `value < 0`.
using Ranges = std::vector<Range>;

/// `value & 0x30 in (0x10, 0x20..0x2f)`. All comparisons of numbers have this form.
struct NumberTest {
    const EventField* field;
    std::optional<std::uint64_t> mask;
    Ranges ranges;
};

/// `func in (pl011_*, "uart_write")`, `func =~ "^pl011"`.
struct TextTest {
    const EventField* field;
    Patterns patterns;
    /// For `dev`: whether each region of the trace matches. For later regions, the event's own name
    /// decides.
    std::vector<bool> regions = {};
    mutable bool met = false; ///< some event matched
};

/// `FR.TXFE == 1`, `field(TXFE) == 1`, `CR.MODE == idle`: a named field of a register.
struct BitsTest {
    std::optional<Pattern> reg; ///< none: any register
    Pattern field;
    std::optional<std::uint64_t> mask;
    Ranges ranges;
    std::vector<Pattern> names; ///< names of values, from the register description
};

/// `@first_access(device=uart)`: a function decides.
struct CustomTest {
    std::function<bool(const Event&)> keep;
};

using Test = std::variant<NumberTest, TextTest, BitsTest, CustomTest>;

struct Node {
    enum class Kind { all_of, any_of, none_of, test };

    Kind kind = Kind::test;
    std::vector<Node> children; ///< empty for a test
    std::optional<Test> test;   ///< only for a test
};

bool holds(const Node& node, const Event& event, const Context& context);

/// Calls `visit` for each test.
void for_each_test(Node& node, const std::function<void(Test&)>& visit);

} // namespace mmioscope::filter
