// Reads logs line by line, and lines field by field.
#pragma once

#include "system/byte_source.hpp"

#include <charconv>
#include <functional>
#include <string_view>
#include <system_error>

namespace mmioscope::importing {

/// Calls `take` with each line of `source`, without its line end; the last line may be cut off.
/// Throws Error if reading fails, also because of damage to compressed data, and Error (bad_input)
/// at a line of more than 64 KiB.
void for_each_line(ByteSource& source, const std::function<void(std::string_view)>& each);

/// Parses a line from the left; anything unexpected makes it bad.
class Fields {
public:
    explicit Fields(std::string_view text) : rest_(text) {}

    /// Takes `word` if it comes next.
    bool accept(std::string_view word) {
        const bool next = good_ && rest_.starts_with(word);
        rest_.remove_prefix(next ? word.size() : 0);
        return next;
    }

    void expect(std::string_view word) {
        good_ = good_ && rest_.starts_with(word);
        rest_.remove_prefix(good_ ? word.size() : 0);
    }

    template <typename T>
    T number(int base = 10) {
        T value{};
        const char* end = rest_.data() + rest_.size();
        const auto [stop, error] = std::from_chars(rest_.data(), end, value, base);
        good_ = good_ && error == std::errc{};
        rest_.remove_prefix(good_ ? static_cast<std::size_t>(stop - rest_.data()) : 0);
        return value;
    }

    std::string_view quoted() {
        expect("'");
        const std::size_t end = rest_.find('\'');
        good_ = good_ && end != std::string_view::npos;
        const std::string_view text = good_ ? rest_.substr(0, end) : std::string_view{};
        rest_.remove_prefix(good_ ? end + 1 : 0);
        return text;
    }

    bool good() const { return good_; }
    bool at_end() const { return rest_.empty(); }
    std::string_view rest() const { return rest_; }

private:
    std::string_view rest_;
    bool good_ = true;
};

} // namespace mmioscope::importing
