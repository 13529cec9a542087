// Which function an address belongs to, by a text of symbols.
#pragma once

#include "symbols/source.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <utility>
#include <vector>

namespace mmioscope::symbols {

/// What FunctionTable tells of the same symbols. The text stays what it is, and is searched by
/// bisection: of tens of thousands of names only those become strings that are asked for.
class FunctionText : public Source {
public:
    /// Takes `text` if it is lines as of kallsyms_text(), in the order of addresses, without
    /// mapping symbols; else returns null, and leaves it. What stands behind a line's address and
    /// type is not looked at: a line that turns out to be no symbol counts as no function.
    static std::unique_ptr<FunctionText> of(std::vector<std::byte>& text);

    bool locate(std::uint32_t address, Location& to) override;
    Reach reach() override;

private:
    using Lines = std::vector<std::uint32_t>; ///< where each begins, and behind the last one

    FunctionText(std::vector<std::byte> text, Lines lines)
        : text_(std::move(text)), lines_(std::move(lines)) {}

    static std::optional<Lines> lines_of(std::span<const std::byte> text);
    const char* line(std::size_t index) const;

    std::vector<std::byte> text_;
    Lines lines_;
};

} // namespace mmioscope::symbols
