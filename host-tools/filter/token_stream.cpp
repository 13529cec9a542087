#include "filter/token_stream.hpp"

#include "filter/complaint.hpp"

namespace mmioscope::filter {

Token TokenStream::need_text(std::string_view what) {
    if (ahead_.kind != Token::Kind::word && ahead_.kind != Token::Kind::quoted) {
        throw complaint_here(last_.text.empty()
                                 ? fmt::format("expected {}", what)
                                 : fmt::format("expected {} after '{}'", what, last_.text));
    }
    return take();
}

Error TokenStream::complaint_at(const Token& token, std::string_view what) const {
    return complaint(subject_, text_, token.column, what);
}

} // namespace mmioscope::filter
