// A filter as a tree: the result of the parser, evaluated for each event.
#pragma once

#include "filter/field.hpp"
#include "filter/pattern.hpp"

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

namespace mmioscope::filter {

/// Numbers from `first` to `last`, both included.
struct Range {
    std::uint64_t first = 0;
    std::uint64_t last = 0;
};
/// No ranges hold no number: `value < 0`.
using Ranges = std::vector<Range>;

/// `value & 0x30 in (0x10, 0x20..0x2f)`; each comparison of numbers is one of these.
struct NumberTest {
    const NumberField* field;
    std::optional<std::uint64_t> mask;
    Ranges ranges;
};

/// `func in (pl011_*, "uart_write")`, `func =~ "^pl011"`.
struct TextTest {
    const TextField* field;
    std::vector<Pattern> patterns;
    /// Of `dev`: for each region of the trace whether it is meant. Beyond its end the event's own
    /// name is asked.
    std::vector<bool> regions = {};
    /// Of each id of TextField::by what was found out.
    enum class Known : std::uint8_t { nothing, no, yes };
    mutable std::vector<Known> known = {};
    mutable bool met = false; ///< by some event
};

/// Whether one of `patterns` is like `text`.
bool any_matches(const std::vector<Pattern>& patterns, std::string_view text);

/// `FR.TXFE == 1`, `field(TXFE) == 1`, `CR.MODE == idle`: some bits of a register, by their name.
struct BitsTest {
    std::optional<Pattern> reg; ///< any register, if none
    Pattern field;
    std::optional<std::uint64_t> mask;
    Ranges ranges;
    std::vector<Pattern> names; ///< of values, as descriptions have them
};

/// `@first_access(device=uart)`: asks somebody else.
struct CustomTest {
    std::string written;
    std::function<bool(const Event&)> keep;
};

using Test = std::variant<NumberTest, TextTest, BitsTest, CustomTest>;

struct Node {
    enum class Kind { all_of, any_of, none_of, test };

    Kind kind = Kind::test;
    std::vector<Node> children; ///< of a test none
    std::optional<Test> test;   ///< only of a test
};

bool holds(const Node& node, const Event& event, const Context& context);

/// Ids of events mean nothing from now on.
void forget(Node& node);

/// As a text that is parsed to the same tree.
std::string written(const Node& node);

/// Calls `visit` for each test.
void for_each_test(Node& node, const std::function<void(Test&)>& visit);

} // namespace mmioscope::filter
