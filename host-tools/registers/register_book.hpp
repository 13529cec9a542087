// All register descriptions of a command: the built-in ones, and the user's.
#pragma once

#include "registers/description.hpp"
#include "tree/tree_nodes.hpp"

#include <deque>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace mmioscope::registers {

class RegisterBook {
public:
    /// The peripherals of an SVD file. Throws Error.
    using SvdReader = std::function<std::vector<Description>(const std::string& file)>;

    /// Empty.
    RegisterBook() = default;

    /// With the built-in descriptions. Each is parsed when it is first needed.
    static RegisterBook shipped();

    /// Adds `more`, and what these include from each other, from descriptions already here, or from
    /// SVD files by `read_svd`. Later descriptions come first. Throws Error (bad_input).
    void add(std::vector<Description> more, const SvdReader& read_svd);

    /// Adds a file as the user names it: "x.regs"; "x.svd", whose peripherals are found by address;
    /// or "x.svd:NAME=COMPATIBLE", one of them, found by the device tree. What begins with "<" is
    /// SVD, whatever its name. Throws Error (bad_input).
    void add_file(const std::string& argument);

    /// The description of the device in `range`: first the user's, by `compatible` with the most
    /// specific first, or by address (registers/device_registers.hpp); then the built-in ones. Null
    /// if there is none.
    const Description* find(std::span<const std::string> compatible, unsigned reg_index,
                            const tree::AddressRange& range) const;

    bool has_files() const { return !files_.empty(); }
    /// The arguments of add_file() of which find() has returned no description.
    std::vector<std::string> unused() const;

    /// Whether the description from find() may have registers that depend on others. Does not parse
    /// it if that is not needed.
    bool may_have_conditions(std::span<const std::string> compatible, unsigned reg_index,
                             const tree::AddressRange& range) const;

    /// What add_file() could not use, for each SVD file with such parts.
    const std::vector<LeftOut>& left_out() const { return left_out_; }

    /// All descriptions.
    const std::deque<Description>& descriptions() const;

private:
    using Chain = std::vector<const Description*>; ///< each includes the next
    struct Unread {
        std::string_view text; ///< of one device; empty: parsed
        std::string_view file;
        unsigned line;
    };

    Description& read(std::size_t index) const;
    void include(Description& in, const SvdReader& read_svd, Chain& chain) const;
    void append(Description& to, const Description& from, const Inclusion& how) const;
    const Description& other(const std::string& name, const std::string& where,
                             const SvdReader& read_svd, Chain& chain) const;
    void add_chosen(Description& to, const Later& how, const Condition& index,
                    const Description& from) const;
    using Place = std::optional<std::size_t>; ///< in descriptions_
    Place named(std::string_view name) const;
    Place compatible_with(std::span<const std::string> compatible, unsigned reg_index,
                          std::size_t from) const;
    std::vector<std::size_t> reaching(const tree::AddressRange& range) const;
    bool may_have_conditions(std::size_t index, std::size_t depth) const;

    struct File {
        std::string argument;
        std::size_t end; ///< index behind its last description
        bool used = false;
    };
    void note_use(std::size_t index) const;

    std::vector<LeftOut> left_out_;
    // Parsing is not visible to callers.
    mutable std::deque<Description> descriptions_; ///< one not yet parsed has only what finds it
    mutable std::vector<Unread> shipped_;          ///< the first ones, which are built in
    mutable std::vector<File> files_;              ///< in their order
    mutable std::map<std::pair<std::uint64_t, std::uint64_t>, Description> placed_; ///< by range
};

} // namespace mmioscope::registers
