#include "symbols/function_text.hpp"

#include "symbols/kallsyms_text.hpp"
#include "symbols/words.hpp"

#include <endian.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <optional>
#include <string>

namespace mmioscope::symbols {

namespace {

constexpr std::size_t address_size = 8; ///< in digits, all of them: so text is in numbers' order
constexpr std::size_t name_at = address_size + 3; ///< behind " T "
constexpr unsigned most_at_one_address = 256;     ///< all are looked at; a stock kernel has 79

constexpr std::array<bool, 256> digits = [] {
    std::array<bool, 256> table{};
    for (const char digit : std::string_view("0123456789abcdef")) {
        table[static_cast<unsigned char>(digit)] = true;
    }
    return table;
}();

bool are_digits(const char* text) {
    bool all = true;
    for (std::size_t i = 0; i < address_size; ++i) {
        all &= digits[static_cast<unsigned char>(text[i])];
    }
    return all;
}

// In the order of addresses, as digits and letters are in the order of what they stand for.
std::uint64_t key_of(const char* line) {
    std::uint64_t key = 0;
    std::memcpy(&key, line, sizeof key);
    return be64toh(key);
}

std::uint64_t key_of(std::uint32_t address) {
    char text[address_size];
    for (char& digit : text) {
        digit = "0123456789abcdef"[address >> 28];
        address <<= 4;
    }
    return key_of(text);
}

std::uint32_t address_of(const char* line) {
    return *number({line, address_size}, 16);
}

} // namespace

std::optional<FunctionText::Lines> FunctionText::lines_of(std::span<const std::byte> text) {
    const std::uint64_t hidden = key_of(0u); // all of them, of who is not root
    constexpr std::size_t usual = 24;        // bytes of a line, or more
    const char* const begin = reinterpret_cast<const char*>(text.data());
    const char* const end = begin + text.size();
    std::uint64_t last = hidden;
    unsigned same = 0;
    Lines lines;
    lines.reserve(text.size() / usual + 1);
    for (const char* line = begin; line != end;) {
        if (static_cast<std::size_t>(end - line) < name_at + 2 || line[address_size] != ' ' ||
            line[name_at - 1] != ' ' || !are_digits(line) || line[name_at] == '\n' ||
            line[name_at] == '$' || (line[name_at] == '.' && line[name_at + 1] == 'L')) {
            return std::nullopt;
        }
        const std::uint64_t key = key_of(line);
        same = key == last ? same + 1 : 1;
        const char* const name = line + name_at;
        const void* const stop = std::memchr(name, '\n', static_cast<std::size_t>(end - name));
        if (key < last || same > most_at_one_address || stop == nullptr) {
            return std::nullopt;
        }
        lines.push_back(static_cast<std::uint32_t>(line - begin));
        last = key;
        line = static_cast<const char*>(stop) + 1;
    }
    if (!text.empty() && last == hidden) {
        return std::nullopt;
    }
    lines.push_back(static_cast<std::uint32_t>(text.size()));
    return lines;
}

std::unique_ptr<FunctionText> FunctionText::of(std::vector<std::byte>& text) {
    std::optional<Lines> lines = lines_of(text);
    return lines
               ? std::unique_ptr<FunctionText>(new FunctionText(std::move(text), std::move(*lines)))
               : nullptr;
}

const char* FunctionText::line(std::size_t index) const {
    return reinterpret_cast<const char*>(text_.data()) + lines_[index];
}

Reach FunctionText::reach() {
    Reach reach;
    if (lines_.size() > 1) {
        const std::uint32_t last = address_of(line(lines_.size() - 2));
        reach.add(address_of(line(0)), std::uint64_t{last} + max_function_size);
    }
    return reach;
}

bool FunctionText::locate(std::uint32_t address, Location& to) {
    const auto starts_behind = [this](std::uint64_t wanted, std::uint32_t at) {
        return wanted < key_of(reinterpret_cast<const char*>(text_.data()) + at);
    };
    const auto behind =
        std::upper_bound(lines_.begin(), lines_.end() - 1, key_of(address), starts_behind);
    const auto next = static_cast<std::size_t>(behind - lines_.begin());
    if (next == 0) {
        return false;
    }
    const std::uint64_t start = key_of(line(next - 1));
    std::optional<Symbol> function; // the first one of those at `start`
    for (std::size_t i = next; i-- > 0 && key_of(line(i)) == start;) {
        const std::size_t size = lines_[i + 1] - lines_[i] - 1;
        std::optional<Symbol> symbol = read_symbol({line(i), size});
        if (symbol && is_function(*symbol)) {
            function = std::move(symbol);
        }
    }
    if (!function) {
        return false;
    }
    const std::uint32_t size =
        next + 1 == lines_.size() ? max_function_size : address_of(line(next)) - function->address;
    if (address - function->address >= std::min(size, max_function_size)) {
        return false;
    }
    to = {std::move(function->name), address - function->address, std::move(function->module), {}};
    return true;
}

} // namespace mmioscope::symbols
