#include "symbols/function_text.hpp"

#include "symbols/kallsyms_text.hpp"
#include "symbols/words.hpp"

#include <fmt/format.h>

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

std::string_view address_of(std::string_view text, std::size_t line) {
    return text.substr(line, address_size);
}

/// Where the line in front of the one that begins at `line` does.
std::size_t before(std::string_view text, std::size_t line) {
    const std::size_t end = line < 2 ? std::string_view::npos : text.rfind('\n', line - 2);
    return end == std::string_view::npos ? 0 : end + 1;
}

} // namespace

bool FunctionText::takes(std::string_view text) {
    constexpr char hidden[] = "00000000"; // all of them, of who is not root
    const char* last = hidden;
    unsigned same = 0;
    const char* const end = text.data() + text.size();
    for (const char* line = text.data(); line != end;) {
        if (static_cast<std::size_t>(end - line) < name_at + 2 || line[address_size] != ' ' ||
            line[name_at - 1] != ' ' || !are_digits(line) || line[name_at] == '\n' ||
            line[name_at] == '$' || (line[name_at] == '.' && line[name_at + 1] == 'L')) {
            return false;
        }
        const int order = std::memcmp(line, last, address_size);
        same = order == 0 ? same + 1 : 1;
        if (order < 0 || same > most_at_one_address) {
            return false;
        }
        last = line;
        const char* const name = line + name_at;
        const void* const stop = std::memchr(name, '\n', static_cast<std::size_t>(end - name));
        if (stop == nullptr) {
            return false;
        }
        line = static_cast<const char*>(stop) + 1;
    }
    return text.empty() || std::memcmp(last, hidden, address_size) != 0;
}

std::string_view FunctionText::text() const {
    return {reinterpret_cast<const char*>(text_.data()), text_.size()};
}

// Where the first line begins whose address is greater.
std::size_t FunctionText::behind(std::string_view address) const {
    const std::string_view all = text();
    std::size_t low = 0;
    std::size_t high = all.size();
    while (low < high) {
        const std::size_t middle = low + (high - low) / 2;
        const std::size_t line = before(all, middle + 1); // the one that has `middle`
        if (address_of(all, line) > address) {
            high = line;
        } else {
            low = all.find('\n', middle) + 1;
        }
    }
    return low;
}

Reach FunctionText::reach() {
    const std::string_view all = text();
    Reach reach;
    if (!all.empty()) {
        const std::uint32_t last = *number(address_of(all, before(all, all.size())), 16);
        reach.add(*number(address_of(all, 0), 16), std::uint64_t{last} + max_function_size);
    }
    return reach;
}

bool FunctionText::locate(std::uint32_t address, Location& to) {
    const std::string_view all = text();
    const std::size_t next = behind(fmt::format("{:08x}", address));
    if (next == 0) {
        return false;
    }
    std::size_t line = before(all, next);
    const std::string_view start = address_of(all, line);
    std::optional<Symbol> function; // the first one of those at `start`
    for (std::size_t end = next; end != 0 && address_of(all, line) == start;
         end = line, line = before(all, line)) {
        std::optional<Symbol> symbol = read_symbol(all.substr(line, end - line - 1));
        if (symbol && is_function(*symbol)) {
            function = std::move(symbol);
        }
    }
    if (!function) {
        return false;
    }
    const std::uint32_t size = next == all.size()
                                   ? max_function_size
                                   : *number(address_of(all, next), 16) - function->address;
    if (address - function->address >= std::min(size, max_function_size)) {
        return false;
    }
    to = {std::move(function->name), address - function->address, std::move(function->module), {}};
    return true;
}

} // namespace mmioscope::symbols
