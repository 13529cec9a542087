#include "symbols/kallsyms_tables.hpp"

#include "system/escape.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <optional>
#include <string_view>

namespace mmioscope::symbols {

namespace {

constexpr std::size_t token_count = 256;
constexpr std::size_t per_marker = 256;
constexpr std::size_t min_symbols = 16;
constexpr std::size_t max_names = 128u << 20; ///< for all names together
constexpr std::size_t max_before = 32u << 20; ///< from the number of symbols to the tokens
/// Limit for the search of names: a real image takes a handful of wrong tries.
constexpr std::size_t max_steps = 64u << 20;

class Image {
public:
    explicit Image(std::span<const std::byte> bytes) : bytes_(bytes) {}

    std::size_t size() const { return bytes_.size(); }
    std::string_view text() const {
        return {reinterpret_cast<const char*>(bytes_.data()), bytes_.size()};
    }
    bool holds(std::size_t at, std::size_t size) const {
        return at <= bytes_.size() && size <= bytes_.size() - at;
    }
    // The caller must have checked that it exists.
    std::uint8_t byte(std::size_t at) const { return static_cast<std::uint8_t>(bytes_[at]); }
    std::uint16_t half(std::size_t at) const { return get<std::uint16_t>(at); }
    std::uint32_t word(std::size_t at) const { return get<std::uint32_t>(at); }

private:
    template <typename T>
    T get(std::size_t at) const {
        T value;
        std::memcpy(&value, bytes_.data() + at, sizeof value);
        return value;
    }

    std::span<const std::byte> bytes_;
};

constexpr std::size_t align(std::size_t at) {
    return (at + 3) & ~std::size_t{3};
}

struct Tokens {
    std::size_t start;
    std::size_t end; ///< after their index
    std::array<std::string_view, token_count> text;
};

// The table of tokens whose token "0" is at `digits`, if there is one.
std::optional<Tokens> tokens_at(const Image& image, std::size_t digits) {
    std::size_t end = digits;
    for (std::size_t token = '0'; token < token_count; ++token) {
        end = image.text().find('\0', end) + 1;
        if (end == 0) {
            return std::nullopt;
        }
    }
    const std::size_t index = align(end);
    if (!image.holds(index, 2 * token_count) || image.half(index + 2 * '0') > digits) {
        return std::nullopt;
    }
    Tokens tokens{digits - image.half(index + 2 * '0'), index + 2 * token_count, {}};
    std::size_t at = tokens.start;
    for (std::size_t token = 0; token < token_count; ++token) {
        if (at >= end || image.half(index + 2 * token) != at - tokens.start) {
            return std::nullopt;
        }
        tokens.text[token] = image.text().substr(at, image.text().find('\0', at) - at);
        at += tokens.text[token].size() + 1;
    }
    return at == end && tokens.start % 4 == 0 ? std::optional(tokens) : std::nullopt;
}

std::optional<Tokens> find_tokens(const Image& image) {
    constexpr std::string_view digits("0\0001\0002\0003\0004\0005\0006\0007\0008\0009\000", 20);
    for (std::size_t at = image.text().find(digits); at != std::string_view::npos;
         at = image.text().find(digits, at + 1)) {
        if (std::optional<Tokens> tokens = tokens_at(image, at)) {
            return tokens;
        }
    }
    return std::nullopt;
}

struct Names {
    std::size_t count_at; ///< of the number of symbols; the names follow
    std::size_t count;
};

/// Finds the names before the tokens.
class NameFinder {
public:
    NameFinder(const Image& image, const Tokens& tokens) : image_(image), tokens_(tokens) {}

    std::optional<Names> find() {
        const std::size_t first = tokens_.start - std::min(tokens_.start, max_before);
        for (std::size_t at = align(first); at + 8 <= tokens_.start && steps_ < max_steps;
             at += 4) {
            const std::size_t count = image_.word(at);
            const bool possible = count >= min_symbols && count <= max_symbols;
            if (possible &&
                (fits(at, count, tokens_.start) ||
                 fits(at, count, tokens_.start - std::min(tokens_.start, order(count))))) {
                return Names{at, count};
            }
        }
        return std::nullopt;
    }

private:
    static std::size_t order(std::size_t count) { return align(3 * count); }

    // Whether `count` names fit between the number and the markers that end at `end`.
    bool fits(std::size_t at, std::size_t count, std::size_t end) {
        const std::size_t size = (count + per_marker - 1) / per_marker * 4;
        const std::size_t names = at + 4;
        if (end < names || end - names < size + count || image_.word(end - size) != 0) {
            return false;
        }
        const std::size_t markers = end - size;
        std::size_t name = names;
        for (std::size_t i = 0; i < count; ++i, ++steps_) {
            const bool marked = i % per_marker == 0;
            if (name + 2 > markers ||
                (marked && image_.word(markers + i / per_marker * 4) != name - names)) {
                return false;
            }
            const std::size_t length = image_.byte(name);
            name += length < 128 ? 1 + length : 2 + (length - 128 + 128 * image_.byte(name + 1));
        }
        return align(name) == markers;
    }

    const Image& image_;
    const Tokens& tokens_;
    std::size_t steps_ = 0;
};

// Whether there are `count` ascending words at `at`.
bool ascending(const Image& image, std::size_t at, std::size_t count) {
    if (!image.holds(at, 4 * count)) {
        return false;
    }
    for (std::size_t i = 1; i < count; ++i) {
        if (image.word(at + 4 * i) < image.word(at + 4 * i - 4)) {
            return false;
        }
    }
    return true;
}

struct Addresses {
    std::size_t at;
    std::uint32_t base;
};

// Offsets begin with 0, addresses do not: a kernel has nothing in the first page.
std::optional<Addresses> find_addresses(const Image& image, const Tokens& tokens,
                                        const Names& names) {
    const std::size_t size = 4 * names.count;
    const auto are = [&](std::size_t at, bool offsets) {
        return image.holds(at, size + 4) && ascending(image, at, names.count) &&
               (offsets ? image.word(at) == 0 && image.word(at + size) >= 4096
                        : image.word(at) >= 4096);
    };
    if (are(tokens.end, true)) {
        return Addresses{tokens.end, image.word(tokens.end + size)};
    }
    if (names.count_at >= size + 4 && are(names.count_at - size - 4, true)) {
        return Addresses{names.count_at - size - 4, image.word(names.count_at - 4)};
    }
    if (names.count_at >= size && are(names.count_at - size, false)) {
        return Addresses{names.count_at - size, 0};
    }
    return std::nullopt;
}

// The names are inside the image: that was checked when they were found.
SymbolList read_names(const Image& image, const Tokens& tokens, const Names& names,
                      const Addresses& addresses) {
    SymbolList symbols;
    std::size_t text = 0;
    std::size_t at = names.count_at + 4;
    std::string name;
    for (std::size_t i = 0; i < names.count; ++i) {
        std::size_t length = image.byte(at++);
        if (length >= 128) {
            length = length - 128 + 128 * image.byte(at++);
        }
        name.clear();
        for (; length > 0; --length, ++at) {
            name += name.size() < max_name ? tokens.text[image.byte(at)] : "";
        }
        text += name.size();
        if (name.size() < 2 || name.size() > max_name || text > max_names || !is_plain_word(name)) {
            return {};
        }
        symbols.push_back(
            {addresses.base + image.word(addresses.at + 4 * i), name[0], name.substr(1), {}});
    }
    return symbols;
}

} // namespace

SymbolList read_tables(std::span<const std::byte> bytes) {
    const Image image(bytes);
    const std::optional<Tokens> tokens = find_tokens(image);
    const std::optional<Names> names =
        tokens ? NameFinder(image, *tokens).find() : std::optional<Names>();
    const std::optional<Addresses> addresses =
        names ? find_addresses(image, *tokens, *names) : std::optional<Addresses>();
    return addresses ? read_names(image, *tokens, *names, *addresses) : SymbolList{};
}

} // namespace mmioscope::symbols
