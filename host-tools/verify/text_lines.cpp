#include "verify/text_lines.hpp"

#include <string>

namespace mmioscope::verify {

void for_each_line(trace::ByteSource& source, const std::function<void(std::string_view)>& take) {
    std::string block;
    std::size_t kept = 0; // the start of a line whose end has not been read
    for (;;) {
        constexpr std::size_t step = 1 << 20;
        block.resize(kept + step);
        const std::size_t got = source.read(block.data() + kept, step);
        const std::string_view text(block.data(), kept + got);
        std::size_t start = 0;
        for (std::size_t end = 0; (end = text.find('\n', start)) != std::string_view::npos;) {
            take(text.substr(start, end - start));
            start = end + 1;
        }
        if (got < step) {
            if (start < text.size()) {
                take(text.substr(start)); // cut off: most likely unreadable
            }
            return;
        }
        kept = text.size() - start;
        block.erase(0, start);
    }
}

} // namespace mmioscope::verify
