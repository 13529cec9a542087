#include "run/log_file.hpp"

#include <unistd.h>

#include <algorithm>
#include <array>

namespace mmioscope::run {

std::string last_lines(const std::string& text, std::size_t lines) {
    std::string clean;
    std::copy_if(text.begin(), text.end(), std::back_inserter(clean),
                 [](char c) { return c != '\r' && c != '\0'; });
    if (!clean.empty() && clean.back() != '\n') {
        clean += '\n';
    }
    std::size_t start = clean.size();
    while (lines-- > 0 && start > 0) {
        const std::size_t end = start >= 2 ? clean.rfind('\n', start - 2) : std::string::npos;
        start = end == std::string::npos ? 0 : end + 1;
    }
    return clean.substr(start);
}

const std::string& LogFile::text() {
    std::array<char, 4096> block;
    ssize_t got = 0;
    while ((got = ::pread(fd_, block.data(), block.size(), static_cast<off_t>(text_.size()))) > 0) {
        text_.append(block.data(), static_cast<std::size_t>(got));
    }
    return text_;
}

std::optional<std::string> LogFile::from_line(const std::string& start) {
    text();
    for (std::size_t end = 0; (end = text_.find('\n', searched_)) != std::string::npos;) {
        if (text_.compare(searched_, start.size(), start) == 0) {
            return text_.substr(searched_);
        }
        searched_ = end + 1;
    }
    return std::nullopt;
}

} // namespace mmioscope::run
