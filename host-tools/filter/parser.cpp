#include "filter/parser.hpp"

#include "filter/condition.hpp"
#include "filter/tokens.hpp"

namespace mmioscope::filter {

namespace {

class Parser {
public:
    Parser(std::string_view text, const Settings& settings)
        : settings_(settings), tokens_("filter", text), condition_(tokens_, settings) {}

    Node whole() {
        Node node = any(0);
        if (!tokens_.at_end()) {
            throw tokens_.complaint_here("expected && or ||");
        }
        return node;
    }

private:
    Node any(unsigned depth) { return several(Node::Kind::any_of, depth); }

    // A single child replaces the node. `any` and `all` differ only in the operator between
    // children.
    Node several(Node::Kind kind, unsigned depth) {
        const bool is_any = kind == Node::Kind::any_of;
        std::vector<Node> children;
        do {
            children.push_back(is_any ? several(Node::Kind::all_of, depth) : one(depth));
        } while (is_any ? tokens_.accept_sign("||") || tokens_.accept_word("or")
                        : tokens_.accept_sign("&&") || tokens_.accept_word("and"));
        if (children.size() == 1) {
            return std::move(children.front());
        }
        return {kind, std::move(children), std::nullopt};
    }

    Node one(unsigned depth) {
        if (depth >= settings_.most_depth) {
            throw tokens_.complaint_here("more than 100 nested parentheses");
        }
        if (tokens_.accept_sign("!") || tokens_.accept_word("not")) {
            std::vector<Node> children;
            children.push_back(one(depth + 1));
            return {Node::Kind::none_of, std::move(children), std::nullopt};
        }
        if (tokens_.accept_sign("(")) {
            Node inside = any(depth + 1);
            tokens_.need_sign(")");
            return inside;
        }
        return condition_.parse();
    }

    const Settings& settings_;
    TokenStream tokens_;
    Condition condition_;
};

} // namespace

Node parse(std::string_view text, const Settings& settings) {
    constexpr std::size_t longest = 64 * 1024;
    if (text.size() > longest) {
        throw bad_input("filter: longer than {} characters", longest);
    }
    return Parser(text, settings).whole();
}

} // namespace mmioscope::filter
