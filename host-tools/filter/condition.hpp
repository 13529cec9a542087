// One condition of a filter: a field, and what to compare it with.
#pragma once

#include "filter/parser.hpp"
#include "filter/tokens.hpp"

namespace mmioscope::filter {

class Condition {
public:
    /// Both outlive this.
    Condition(TokenStream& tokens, const Settings& settings)
        : tokens_(tokens), settings_(settings) {}

    /// Takes one condition from the tokens. Throws Error (bad_input) if there is none.
    Node parse();

private:
    Node number(const EventField& field);
    Node text(const EventField& field);
    Node bits(std::optional<Pattern> reg, Pattern field);
    Node bits_by_call();
    Node custom(const Token& name);

    void check_code(const Token& token, bool code) const;
    std::optional<std::uint64_t> mask();

    TokenStream& tokens_;
    const Settings& settings_;
};

} // namespace mmioscope::filter
