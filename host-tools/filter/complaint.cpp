#include "filter/complaint.hpp"

#include "system/escape.hpp"

namespace mmioscope::filter {

namespace {

constexpr std::size_t shown = 24; ///< characters on each side of the place

} // namespace

Error complaint(std::string_view subject, std::string_view text, std::size_t at,
                std::string_view what) {
    const std::size_t from = at > shown ? at - shown : 0;
    const std::string before = printable(text.substr(from, at - from));
    const std::string behind = printable(text.substr(at, shown));
    return bad_input("{}: column {}: {}: {}{}<here>{}{}", subject, at + 1, printable(what),
                     from > 0 ? "..." : "", before, behind, at + shown < text.size() ? "..." : "");
}

} // namespace mmioscope::filter
