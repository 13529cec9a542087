// The names of the guest's code.
#pragma once

#include "mmioscope/event.hpp"

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace mmioscope::symbols {

// A source of function names for addresses.

/// Addresses from the first to the last, both included; initially empty.
struct Reach {
    std::uint64_t first = UINT64_MAX; ///< 64 bits, so that ends do not wrap
    std::uint64_t last = 0;

    bool has(std::uint32_t address) const { return address >= first && address <= last; }
    void add(std::uint64_t from, std::uint64_t to) {
        first = std::min(first, from);
        last = std::max(last, to);
    }
};

using VisitName = std::function<void(std::string_view name)>;

class Source {
public:
    virtual ~Source() = default;

    /// Stores what is at `address` in `to`, which must be empty; false if this source does not know
    /// it.
    virtual bool locate(std::uint32_t address, Location& to) = 0;

    /// Calls `visit` with the name of each function that it may find.
    virtual void each_function(const VisitName&) {}

    /// The range of addresses that it may know.
    virtual Reach reach() { return {0, UINT32_MAX}; }
};

// A symbol as in nm, System.map and /proc/kallsyms.

struct Symbol {
    std::uint32_t address = 0;
    char type = 't'; ///< as in nm: t and T text, w and W weak, d data ...
    std::string name;
    std::string module; ///< empty: the kernel itself

    bool operator==(const Symbol&) const = default;
};

using SymbolList = std::vector<Symbol>;

/// Limit for one file or kernel; a stock kernel has 50,000.
inline constexpr std::size_t max_symbols = 4u << 20;
inline constexpr std::size_t max_name = 1024; ///< limit in characters

/// Larger than any function of a kernel, in bytes.
inline constexpr std::uint32_t max_function_size = 64u << 10;

/// Symbols of the linker and the assembler inside functions.
inline bool is_mark(std::string_view name) {
    return name.starts_with("$") || name.starts_with(".L");
}

/// In some versions the ends of the kernel's text have a function's type.
inline bool is_function(const Symbol& symbol) {
    constexpr std::string_view types = "tTwW";
    return types.find(symbol.type) != std::string_view::npos && symbol.name != "_etext" &&
           symbol.name != "_einittext";
}

/// Trust in a source: the first one that knows an address wins.
enum class Trust {
    elf,    ///< an ELF file with symbols
    text,   ///< /proc/kallsyms, or found in the guest's memory
    image,  ///< the kernel's image, which has no modules
    module, ///< only the address of a module
};

/// The place of a module in the guest's kernel.
struct ModuleSpan {
    std::string name;
    std::uint32_t base = 0;
    std::uint32_t size = 0; ///< bytes
};

class Symbols {
public:
    /// With equal trust, the source added first wins. Add all sources before the first lookup:
    /// results are kept.
    void add(Trust trust, std::unique_ptr<Source> source);
    /// `functions`: the module's, as far as known. Without them, a location in it has no function,
    /// and its offset is from `base`.
    void add_module(const ModuleSpan& span, SymbolList functions = {});

    /// Stores what is at `address` in `to`, which must be empty. An even address is that of an
    /// instruction. An odd one, 1 below a return address, is that of the call before it, which may
    /// be the last instruction of its function. The offset is that of the value in the guest's
    /// register. False if no known function contains it.
    bool locate(std::uint32_t address, Location& to) const;

    /// Calls `visit` with the name of each function that is known; a name may come several times.
    void each_function(const VisitName& visit) const;

    /// No function is outside this range.
    Reach reach() const;

private:
    std::multimap<Trust, std::unique_ptr<Source>> sources_;
};

// Functions of Linux that access a device for whoever calls them.

/// Whether `function` belongs to a family of docs/stacks.md, "Accessors".
bool is_accessor(std::string_view function);

// Finds the function of an address in a list of symbols.

/// The range of a function's code.
struct Extent {
    std::uint32_t start;
    std::uint32_t size;
};

/// A function ends where the next symbol of any kind begins, and after 64 KiB at the latest,
/// because not every list tells where code ends. Of several symbols at one address the first
/// function in the list counts, as in the kernel's own messages. Ignores mapping symbols ($a, $d,
/// .L...).
class FunctionTable : public Source {
public:
    explicit FunctionTable(SymbolList symbols);

    bool locate(std::uint32_t address, Location& to) override;
    void each_function(const VisitName& visit) override;
    Reach reach() override { return code(); }

    /// The extent of the function at `address`; nothing if there is none.
    std::optional<Extent> extent(std::uint32_t address) const;

    Reach code() const; ///< of all functions

private:
    struct Function {
        std::uint32_t start;
        std::uint32_t size;
        std::string name;
        std::string module;
    };

    const Function* find(std::uint32_t address) const;

    std::vector<Function> functions_; ///< sorted by address, without overlaps
};

// Lists of symbols as text, as in /proc/kallsyms and System.map.

/// Parses lines of `address type name`, optionally followed by `[module]`, all plain text. Throws
/// Error (bad_input) that names the line, not the file; also if the kernel hid the addresses.
SymbolList read_kallsyms(std::string_view text);

/// Parses one such line; nothing if it is not one.
std::optional<Symbol> read_symbol(std::string_view line);

// Parses lines, words and numbers in texts of the kernel.

/// Removes the first line from `text` and returns it.
inline std::string_view next_line(std::string_view& text) {
    const std::string_view line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(text.size(), line.size() + 1));
    return line;
}

/// Removes the first word from `line` and returns it; empty if there is none.
inline std::string_view next_word(std::string_view& line) {
    const auto is_blank = [](char c) { return c == ' ' || c == '\t' || c == '\r'; };
    const auto begin = std::find_if_not(line.begin(), line.end(), is_blank);
    const auto end = std::find_if(begin, line.end(), is_blank);
    line = {end, line.end()};
    return {begin, end};
}

inline bool is_blank(std::string_view line) {
    return next_word(line).empty();
}

/// All of `word` as a number.
inline std::optional<std::uint32_t> number(std::string_view word, int base) {
    std::uint32_t value = 0;
    const char* end = word.data() + word.size();
    const auto [stopped, error] = std::from_chars(word.data(), end, value, base);
    return error == std::errc() && stopped == end ? std::optional(value) : std::nullopt;
}

/// A hexadecimal address. One of 64 bits must be where x86-64's kernel has its code, for logs of
/// mmiotrace: the upper half, always the same, is left out.
inline std::optional<std::uint32_t> address(std::string_view word) {
    return number(word.substr(word.size() == 16 && word.starts_with("ffffffff") ? 8 : 0), 16);
}

} // namespace mmioscope::symbols
