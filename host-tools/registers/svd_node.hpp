// Elements of an SVD file, with everything that they inherit.
#pragma once

#include "registers/description.hpp"
#include "registers/svd_bases.hpp"
#include "system/error.hpp"

#include <pugixml.hpp>

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_set>
#include <utility>
#include <vector>

namespace mmioscope::registers {

/// `text` on one line, trimmed, each run of blanks as one.
std::string one_line(std::string_view text);

/// A number as in SVD: decimal, 0x, or # and 0b for binary.
std::optional<std::uint64_t> svd_number(std::string_view text);

/// A number whose bits `any` may have either value ("don't care", x in binary numbers).
struct Masked {
    std::uint64_t value = 0;
    std::uint64_t any = 0;
};

/// The same with such bits.
std::optional<Masked> svd_masked(std::string_view text);

/// A file, for error messages and for the bases of its elements.
class SvdFile {
public:
    SvdFile(std::string_view text, const std::string& name) : text_(text), name_(name) {}

    template <typename... Args>
    Error error(std::ptrdiff_t offset, fmt::format_string<Args...> text, Args&&... args) const {
        return bad_input("{}:{}: {}", name_, line(offset),
                         fmt::format(text, std::forward<Args>(args)...));
    }

    SvdBases& bases() const { return bases_; }

    /// Counts something of the file that cannot be used, and keeps the first reason.
    void leave_out(const Error& why) const;
    const LeftOut& left_out() const { return left_out_; }
    /// Whether this is the first call for this element: it is complained about once, although it
    /// is read again wherever something is derived from it.
    bool is_new(pugi::xml_node node) const { return seen_.insert(node.internal_object()).second; }

    /// SvdNode::text() of an element that contains others, cached because they all ask for it.
    const std::string& around(pugi::xml_node node, const char* name) const;

private:
    std::size_t line(std::ptrdiff_t offset) const;

    std::string_view text_;
    std::string name_;
    mutable LeftOut left_out_;
    mutable std::unordered_set<const void*> seen_;
    // Caches.
    mutable std::vector<std::ptrdiff_t> lines_; ///< where each begins
    mutable SvdBases bases_;
    mutable std::map<std::pair<const void*, std::string>, std::string> around_;
};

/// An element, and the one that it is derived from.
class SvdNode {
public:
    SvdNode(const SvdFile& file, pugi::xml_node node) : file_(&file), node_(node) {}

    /// The text of child `name`, of this element or of its base; trimmed, one line.
    std::string text(const char* name) const;

    /// The same as a number. Throws if it is not a number.
    std::optional<std::uint64_t> number(const char* name) const;
    std::uint64_t need_number(const char* name) const;

    /// A value that is also inherited from enclosing elements: size, access.
    std::string inherited(const char* name) const;

    /// The elements called `kind` in `list`; first those of the base, without those that this
    /// element overrides. `list` null: the element's own children.
    std::vector<SvdNode> children(const char* list, std::string_view kind,
                                  std::string_view other_kind = "") const;

    /// This element's own children called `kind`, or those of the nearest base that has any.
    std::vector<SvdNode> own_or_inherited(const char* kind) const;

    std::string kind() const { return node_.name(); }
    std::string name() const;

    /// How often and at what distance this element repeats; `name` is split at its %s.
    std::optional<Series> series(std::string_view name) const;

    template <typename... Args>
    Error error(fmt::format_string<Args...> text, Args&&... args) const {
        return file_->error(node_.offset_debug(), text, std::forward<Args>(args)...);
    }

private:
    pugi::xml_node base(pugi::xml_node node) const;
    pugi::xml_node child(const char* name) const;
    std::vector<pugi::xml_node> line_of_descent() const;

    const SvdFile* file_;
    pugi::xml_node node_;
};

} // namespace mmioscope::registers
