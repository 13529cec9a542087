// Several boots by the same names: which sites of theirs are one, and what is data.
#pragma once

#include "diff/boot.hpp"
#include "diff/sites.hpp"

#include <compare>
#include <cstdint>
#include <map>
#include <set>
#include <span>
#include <utility>
#include <vector>

namespace mmioscope::diff {

/// A site with a value that was written there; of data all values are one.
struct Write {
    std::uint32_t site = 0;
    bool data = false;
    std::uint64_t value = 0;
    auto operator<=>(const Write&) const = default;
};

/// What a boot did at one site.
struct Done {
    std::uint64_t count = 0;
    std::uint64_t first = 0; ///< number of an event
    std::map<std::uint64_t, Use::Value> values;
    bool data = false;
    std::uint64_t ones = 0;
    std::uint64_t zeros = 0;
};

struct AlikeBoot {
    std::map<std::uint32_t, Done> done; ///< by site
    std::set<std::pair<Write, Write>> pairs;

    /// Null: the boot has not been there.
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
    std::vector<AlikeBoot> boots; ///< two at least

    /// All but the last one, which is compared with them.
    std::span<const AlikeBoot> goods() const { return std::span(boots).first(boots.size() - 1); }
    const AlikeBoot& other() const { return boots.back(); }
};

/// `boots` with sites of their own. One site are
/// - all reads of a register by a function;
/// - all accesses of a function to a register, if they come from more than three places: a copy in
///   an unrolled loop;
/// - those of a function by whose places nothing can be said: it stands in kernels of different
///   builds, or no place of it is both in `boots` and in the last one of them (it was built anew).
/// Data is what a site writes that has more than Use::most_values values in any boot, and all that
/// is written to the same register. So is what goes to switches: several values, and each write
/// changes one bit, as of LEDs.
Alike alike(const Sites& sites, std::span<const Boot* const> boots);

} // namespace mmioscope::diff
