// What all findings are made of: names, sides, values.
#pragma once

#include "diff/alike.hpp"
#include "diff/boot.hpp"
#include "diff/changes.hpp"
#include "diff/findings.hpp"

#include <cstdint>
#include <iterator>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace mmioscope::diff {

/// The name of the function; the address if it has none.
std::string code_text(const Site& site);

/// The device and the function that accesses it, as a key.
std::string call_of(const Site& site);

/// Adds `count` accesses to `side`; the first has the number `event`.
void add(Side& side, std::uint64_t count, std::uint64_t event);

/// The names of several sites, each once.
class Names {
public:
    void add(const Site& site);
    void fill(Finding& to) const;

private:
    std::vector<std::string> devices_, registers_, functions_;
};

/// The base of the classes that make findings. The arguments outlive it.
class Telling {
public:
    Telling(const Alike& alike, const Sites& sites) : alike_(alike), sites_(sites) {}

protected:
    const Site& site(std::uint32_t number) const { return alike_.sites[number]; }
    const Register* description(const Site& site) const { return sites_.description(site); }
    const AlikeBoot& a() const { return alike_.goods().front(); } ///< the first good boot
    const AlikeBoot& b() const { return alike_.other(); }

    /// A finding at one site.
    Finding begun(std::uint32_t number, const char* kind) const;

    const Alike& alike_;
    std::vector<Finding> findings_;

private:
    const Sites& sites_;
};

// Values and lists of a finding, in words.

/// "0x100 (Enable=1)": the fields follow if they are known.
std::string value_text(const Site& site, const Register* reg, std::uint64_t value);

/// "0x501 -> 0x500 (Enable 1 -> 0)": the fields that differ follow if they are known.
std::string change_text(const Site& site, const Register* reg, std::uint64_t a, std::uint64_t b);

/// "once", "12 times".
std::string times_text(std::uint64_t count);

/// The first few, separated by commas, and the number of the others.
std::string list_text(const std::vector<std::string>& items);

// Where events of the other boot would be in the first good one.

class Timeline {
public:
    explicit Timeline(const Alike& alike);

    /// An event of the first good boot, or how far the other boot is behind it.
    using Place = std::pair<std::uint64_t, std::uint64_t>;

    /// The first event that shows it.
    Place place_of(const Finding& finding) const {
        return finding.a.event != 0 ? Place(finding.a.event, 0)
                                    : Place(last(a_by_b_, finding.b.event), finding.b.event);
    }
    /// The event of the other boot that is as far as `event` of the first good boot: the first use
    /// of the last site that both used by then.
    std::uint64_t in_b(std::uint64_t event) const { return last(b_by_a_, event); }

private:
    using Events = std::map<std::uint64_t, std::uint64_t>;

    static std::uint64_t last(const Events& events, std::uint64_t event) {
        const auto next = events.upper_bound(event);
        return next == events.begin() ? 0 : std::prev(next)->second;
    }

    Events a_by_b_, b_by_a_; ///< first uses of sites that both have
};

// Changes of sites as findings: what only one side has.

/// A finding and the changes that it reports.
struct SiteFinding {
    Finding finding;
    std::vector<SiteChange> changes;
};

/// One finding for each device, module, function or register that changed: the largest unit that
/// covers its changes.
std::vector<SiteFinding> site_findings(const Alike& alike, const Changes& changes,
                                       const Sites& sites);

// What a driver no longer does once it has stopped: one finding, behind the cause.

/// Replaces the findings that follow from a stop by one. A driver has stopped where the other boot
/// lacks most of what all good boots first do from there on to its device. Then these follow,
/// except for the first finding about the device, which may be the cause:
/// - what is missing from there on, and what only the other boot does to the device behind it;
/// - likewise on other devices, if the thread came from the stopped one;
/// - what is missing behind the end of the other boot.
std::vector<Finding> with_stops(const Alike& alike, const Timeline& timeline,
                                const std::vector<SiteFinding>& all);

} // namespace mmioscope::diff
