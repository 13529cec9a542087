// Several boots by the same names: which of their sites count as one, and which values are data.
#pragma once

#include "diff/boot.hpp"

#include <compare>
#include <cstdint>
#include <map>
#include <span>
#include <utility>
#include <vector>

namespace mmioscope::diff {

/// A site and a value written there. All values of data count as one.
struct Write {
    std::uint32_t site = 0;
    bool data = false;
    std::uint64_t value = 0;
    auto operator<=>(const Write&) const = default;
};

/// What a boot did at one site.
struct Done {
    std::uint64_t count = 0;
    std::uint64_t first = 0;            ///< number of an event
    std::uint32_t behind = Sites::none; ///< as in Use; so do its values
    std::map<std::uint64_t, Use::Value> values;
    bool data = false;
    std::uint64_t ones = 0;
    std::uint64_t zeros = 0;
};

struct AlikeBoot {
    std::map<std::uint32_t, Done> done;                     ///< by site
    std::map<std::pair<Write, Write>, std::uint64_t> pairs; ///< with their number
    std::map<BurstKind, Burst> bursts;                      ///< of data

    /// Null: the boot made no access there.
    const Done* find(std::uint32_t site) const {
        const auto found = done.find(site);
        return found == done.end() ? nullptr : &found->second;
    }
};

/// How function names of different kernels are compared.
enum class Builds { same, different };

struct Alike {
    Builds builds = Builds::same;
    std::vector<Site> sites;
    std::vector<AlikeBoot> boots; ///< at least two
    /// Bits that a register does not keep, in any boot; by its device and offset.
    std::map<std::pair<std::string, std::uint64_t>, std::uint64_t> unkept;

    /// The good boots: all but the last one.
    std::span<const AlikeBoot> goods() const { return std::span(boots).first(boots.size() - 1); }
    const AlikeBoot& other() const { return boots.back(); }
};

/// Numbers the sites of `boots` anew. These count as one site:
/// - all reads of a register by a function;
/// - all accesses of a function to a register, if they come from more than three places: the
///   compiler has unrolled a loop;
/// - all accesses of a function to a register, if its places cannot be compared: the kernels are
///   different builds, or the last boot shares no place of the function with the others, so it was
///   compiled again.
/// A site writes data if it writes more than Use::most_values values in any boot, or if it writes
/// switches, such as LEDs: several values, each one bit different from the one before. Then all
/// writes to that register are data.
Alike alike(const Sites& sites, std::span<const Boot* const> boots);

} // namespace mmioscope::diff
