#include "filter/call.hpp"

namespace mmioscope::filter {

CallOptions parse_options(TokenStream& tokens) {
    CallOptions options;
    if (!tokens.accept_sign("(") || tokens.accept_sign(")")) {
        return options;
    }
    do {
        const Token key = tokens.need_text("an option");
        tokens.need_sign("=");
        if (!options.emplace(key.text, tokens.need_text("a value").text).second) {
            throw tokens.complaint_at(key, fmt::format("'{}' is given twice", key.text));
        }
    } while (tokens.accept_sign(","));
    tokens.need_sign(")");
    return options;
}

Call parse_call(std::string_view subject, std::string_view text) {
    TokenStream tokens(subject, text);
    Call call;
    call.name = tokens.need_text("a name").text;
    call.options = parse_options(tokens);
    if (!tokens.at_end()) {
        throw tokens.complaint_here("expected nothing more");
    }
    return call;
}

} // namespace mmioscope::filter
