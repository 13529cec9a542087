// All register descriptions of a command: the built-in ones, and the user's.
#pragma once

#include "registers/description.hpp"

#include <deque>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace mmioscope::registers {

class RegisterBook {
public:
    /// The peripherals of an SVD file; throws Error.
    using SvdReader = std::function<std::vector<Description>(const std::string& file)>;

    /// Empty.
    RegisterBook() = default;

    /// With the descriptions that this program brings along. Each is read when it is asked for.
    static RegisterBook shipped();

    /// Adds `more`, and what they include, from each other or from what is here already; SVD files
    /// by `read_svd`. Descriptions added later come first. Throws Error (bad_input).
    void add(std::vector<Description> more, const SvdReader& read_svd);

    /// Adds a file as the user names it: "x.regs"; "x.svd", whose peripherals are found by their
    /// addresses; or "x.svd:NAME=COMPATIBLE", one of them found by the device tree.
    void add_file(const std::string& argument);

    /// That of a device: the user's own by what it is compatible with, most specific first, or by
    /// address; then those brought along. Null if there is none.
    const Description* find(std::span<const std::string> compatible, unsigned reg_index,
                            std::uint64_t address) const;

    /// Whether the one that find() gives may have registers that depend on others; does not read it
    /// where that is not needed.
    bool may_have_conditions(std::span<const std::string> compatible, unsigned reg_index,
                             std::uint64_t address) const;

    /// All of them.
    const std::deque<Description>& descriptions() const;

private:
    using Chain = std::vector<const Description*>; ///< each includes the next
    struct Unread {
        std::string_view text; ///< of one device; empty: it is read
        std::string_view file;
        unsigned line;
    };

    Description& read(std::size_t index) const;
    void include(Description& in, const SvdReader& read_svd, Chain& chain) const;
    void append(Description& to, const Description& from, const Inclusion& how) const;
    using Place = std::optional<std::size_t>; ///< in descriptions_
    Place named(std::string_view name) const;
    Place compatible_with(std::span<const std::string> compatible, unsigned reg_index,
                          std::size_t from) const;
    Place place_of(std::span<const std::string> compatible, unsigned reg_index,
                   std::uint64_t address) const;
    bool may_have_conditions(std::size_t index, std::size_t depth) const;

    // Reading one changes nothing that can be seen.
    mutable std::deque<Description> descriptions_; ///< of one that is not read: how it is found
    mutable std::vector<Unread> shipped_;          ///< the first ones, which are not the user's
};

} // namespace mmioscope::registers
