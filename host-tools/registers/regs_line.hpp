// One line of a description file, parsed word by word.
#pragma once

#include "registers/description.hpp"
#include "system/error.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace mmioscope::registers {

/// "GICD_IPRIORITYR[0..254]" split into the part before the index, the indices, and the part after
/// it.
struct IndexedName {
    std::string before;
    bool indexed = false;
    Series series; ///< without its step
    std::string behind;
};

class RegsLine {
public:
    /// Line `number` of `file`. Ignores everything after '#'.
    RegsLine(std::string_view text, std::string_view file, unsigned number);

    std::string where() const { return fmt::format("{}:{}", file_, number_); }
    unsigned line() const { return number_; }

    /// The next word; empty at the end, or if only the description is left.
    std::string_view peek() const;
    std::string_view word();

    /// The next word, which must exist; `what` describes it in the error.
    std::string_view need(std::string_view what);
    std::uint64_t need_number(std::string_view what);

    /// The text after " : ", without surrounding spaces.
    const std::string& description() const { return description_; }

    /// Throws if there is another word.
    void finish() const;

    template <typename... Args>
    Error error(fmt::format_string<Args...> text, Args&&... args) const {
        return bad_input("{}: {}", where(), fmt::format(text, std::forward<Args>(args)...));
    }

private:
    std::string_view file_;
    unsigned number_;
    std::string text_;
    std::string description_;
    std::string_view rest_;
};

/// Throws with the place of `line` if this is not a name.
IndexedName indexed_name(const RegsLine& line, std::string_view text);

// Fields of a register, as written in description files.

/// Appends the fields of "[7:4] NAME 0=off 1=on". NAME may have indices: then there are several
/// adjacent fields.
void read_field(RegsLine& line, unsigned register_bits, std::vector<Field>& to);

// Numbers as written in descriptions.

/// All of `text` as a decimal number, or hexadecimal after "0x"; nothing if it is neither.
std::optional<std::uint64_t> number(std::string_view text);

} // namespace mmioscope::registers
