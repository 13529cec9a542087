// Which function an address belongs to, by a text of symbols.
#pragma once

#include "symbols/source.hpp"

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

namespace mmioscope::symbols {

/// What FunctionTable tells of the same symbols. The text stays what it is, and is searched by
/// bisection: tens of thousands of names cost nothing before one is asked for.
class FunctionText : public Source {
public:
    /// Whether `text` is lines as of kallsyms_text(), in the order of addresses, without mapping
    /// symbols. What stands behind a line's address and type is not looked at: a line that turns
    /// out to be no symbol counts as no function.
    static bool takes(std::string_view text);

    /// takes() it.
    explicit FunctionText(std::vector<std::byte> text) : text_(std::move(text)) {}

    bool locate(std::uint32_t address, Location& to) override;
    Reach reach() override;

private:
    std::string_view text() const;
    std::size_t behind(std::string_view address) const;

    std::vector<std::byte> text_;
};

} // namespace mmioscope::symbols
