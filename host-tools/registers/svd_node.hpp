// Elements of an SVD file, with everything that they inherit.
#pragma once

#include "registers/description.hpp"
#include "system/error.hpp"

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <pugixml.hpp>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

namespace mmioscope::registers {

// Finds the elements of an SVD file that others refer to with `derivedFrom`.

/// Caches its results, because an element is requested once for each thing that it may inherit.
class SvdBases {
public:
    /// The element that `derivedFrom` of `node` names, never itself; null if there is none. The
    /// name, which may be a path with dots, counts from each element around `node`, the innermost
    /// first. It may name one element of an array. Named values are also found by their own name or
    /// by their field's, anywhere inside these elements: vendors' files use all of these.
    pugi::xml_node of(pugi::xml_node node);

private:
    using Key = std::pair<std::string, std::string>; ///< kind, name
    struct List {
        std::map<Key, pugi::xml_node> named;
        std::map<Key, std::map<std::string, pugi::xml_node>> arrays; ///< before %s; behind it
    };
    using Values = std::unordered_map<std::string, pugi::xml_node>; ///< by name

    pugi::xml_node find(pugi::xml_node node);
    pugi::xml_node inside(pugi::xml_node scope, std::string_view kind, std::string_view path);
    pugi::xml_node step(pugi::xml_node from, std::string_view name);
    pugi::xml_node named(pugi::xml_node list, std::string_view kind, std::string_view name);
    pugi::xml_node values(pugi::xml_node scope, std::string_view name);

    std::unordered_map<const void*, pugi::xml_node> bases_; ///< by element
    std::unordered_map<const void*, List> lists_;           ///< by the element that contains them
    std::unordered_map<const void*, Values> values_;        ///< likewise, at any depth
};

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

// Limits what one SVD file can expand to, since <dim> and derivedFrom repeat what is written once.

class SvdQuota {
public:
    /// The file is refused as a whole.
    struct Exceeded : Error {
        using Error::Error;
    };

    // Each function throws Exceeded at `node` if the limit is exceeded.
    void entries(const SvdNode& node, std::size_t more) {
        charge(node, entries_, more, most_entries, "registers, clusters and names of indices");
    }
    void fields(const SvdNode& node, std::size_t more) {
        charge(node, fields_, more, most_fields, "fields and named values");
    }
    void text(const SvdNode& node, std::size_t more) {
        charge(node, text_, more, most_text, "characters");
    }

    /// Takes again what was taken between these two copies.
    void repeat(const SvdNode& node, const SvdQuota& before, const SvdQuota& after) {
        entries(node, after.entries_ - before.entries_);
        fields(node, after.fields_ - before.fields_);
        text(node, after.text_ - before.text_);
    }

private:
    static constexpr std::size_t most_entries = 65536;
    static constexpr std::size_t most_fields = 1u << 20;
    static constexpr std::size_t most_text = 64u << 20;

    static void charge(const SvdNode& node, std::size_t& taken, std::size_t more, std::size_t most,
                       const char* what) {
        if (more > most - taken) {
            const Error error = node.error("more than {} {}", most, what);
            throw Exceeded(error.status(), error.what());
        }
        taken += more;
    }

    std::size_t entries_ = 0;
    std::size_t fields_ = 0;
    std::size_t text_ = 0;
};

} // namespace mmioscope::registers
