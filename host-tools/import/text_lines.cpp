#include "import/text_lines.hpp"

#include "system/error.hpp"

#include <string>

namespace mmioscope::importing {

namespace {

constexpr std::size_t longest = 64u << 10;

/// Passes lines on, and counts them.
class Lines {
public:
    explicit Lines(const std::function<void(std::string_view)>& each) : each_(each) {}

    void check(std::size_t size) const {
        if (size > longest) {
            throw bad_input("line {} is longer than 64 KiB", number_);
        }
    }
    void add(std::string_view line) {
        check(line.size());
        each_(line);
        ++number_;
    }

private:
    const std::function<void(std::string_view)>& each_;
    std::uint64_t number_ = 1;
};

} // namespace

void for_each_line(ByteSource& source, const std::function<void(std::string_view)>& each) {
    Lines lines(each);
    std::string block;
    std::size_t kept = 0; // start of an incomplete line
    for (;;) {
        constexpr std::size_t step = 1 << 20;
        block.resize(kept + step);
        const std::size_t got = source.read(block.data() + kept, step);
        const std::string_view text(block.data(), kept + got);
        std::size_t start = 0;
        for (std::size_t end = text.find('\n', kept); end != std::string_view::npos;
             end = text.find('\n', start)) {
            lines.add(text.substr(start, end - start));
            start = end + 1;
        }
        if (got < step) {
            if (const std::string problem = source.problem(); !problem.empty()) {
                throw bad_input("{}", problem);
            }
            if (start < text.size()) {
                lines.add(text.substr(start)); // cut off: probably unreadable
            }
            return;
        }
        kept = text.size() - start;
        lines.check(kept);
        block.erase(0, start);
    }
}

} // namespace mmioscope::importing
