
#include "diff/telling.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <string>
#include <utility>

namespace mmioscope::diff {

namespace {

constexpr std::size_t least_missing = 3;  ///< fewer may be independent changes
constexpr std::size_t least_findings = 2; ///< that follow

/// Something that only one boot does: the first access of a site, or with a value.
struct Only {
    std::uint32_t site = 0;
    std::uint64_t event = 0;
    std::string behind; ///< the device that the thread came from; empty: unknown, or boots differ
    bool in_a = false;
};

/// Where a driver stops.
struct Stop {
    std::uint64_t in_a = 0; ///< event: the first access that is missing
    std::uint64_t in_b = 0;
    std::size_t missing = 0;        ///< sites and values from there on
    std::size_t all = 0;            ///< likewise
    std::size_t cause = 0;          ///< the number of a finding
    std::vector<std::size_t> after; ///< numbers of findings
};

class StopTeller {
public:
    StopTeller(const Alike& alike, const Timeline& timeline, const std::vector<SiteFinding>& all)
        : alike_(alike), a_(alike.goods().front()), b_(alike.other()), all_(all),
          timeline_(timeline) {
        find_stops();
        find_causes();
        find_end();
    }

    std::vector<Finding> take() {
        for (std::size_t i = 0; i < all_.size(); ++i) {
            if (Stop* const stop = stop_before(i)) {
                stop->after.push_back(i);
            }
        }
        std::vector<bool> told(all_.size());
        std::vector<Finding> findings;
        for (const auto& [device, stop] : stops_) {
            if (stop.after.size() >= least_findings) {
                findings.push_back(finding_of(device, stop));
                for (const std::size_t i : stop.after) {
                    told[i] = true;
                }
            }
        }
        for (std::size_t i = 0; i < all_.size(); ++i) {
            if (!told[i]) {
                findings.push_back(all_[i].finding);
            }
        }
        return findings;
    }

private:
    /// Whether the other boot lacks what all good boots first do at this event.
    using Firsts = std::vector<std::pair<std::uint64_t, bool>>;

    std::string device_of(std::uint32_t site) const {
        return site == Sites::none ? "" : alike_.sites[site].device;
    }

    bool is_in_all_good(std::uint32_t site) const {
        const auto goods = alike_.goods();
        return std::all_of(goods.begin(), goods.end(),
                           [site](const AlikeBoot& good) { return good.find(site) != nullptr; });
    }
    bool is_in_all_good(std::uint32_t site, std::uint64_t value) const {
        const auto goods = alike_.goods();
        return std::all_of(goods.begin(), goods.end(), [=](const AlikeBoot& good) {
            return good.find(site)->values.contains(value);
        });
    }

    // The values that a site writes, or the site itself if they are data or it reads.
    void add_firsts(Firsts& to, std::uint32_t site, const Done& done) const {
        const Done* const other = b_.find(site);
        if (other == nullptr || other->data || done.data || !alike_.sites[site].write) {
            to.emplace_back(done.first, other == nullptr);
            return;
        }
        for (const auto& [value, use] : done.values) {
            if (is_in_all_good(site, value)) {
                to.emplace_back(use.first, !other->values.contains(value));
            }
        }
    }

    // Most is missing from there on: three of four. A driver that stops may still do some of it on
    // its way out.
    static Stop stop_in(Firsts& firsts) {
        std::sort(firsts.begin(), firsts.end(), std::greater());
        Stop stop;
        for (std::size_t i = 0, missing = 0; i < firsts.size(); ++i) {
            missing += firsts[i].second ? 1 : 0;
            if (firsts[i].second && 4 * missing >= 3 * (i + 1)) {
                stop.in_a = firsts[i].first;
                stop.missing = missing;
                stop.all = i + 1;
            }
        }
        return stop;
    }

    void find_stops() {
        std::map<std::string, Firsts> by_device;
        Firsts all;
        for (const auto& [site, done] : a_.done) {
            if (!alike_.sites[site].interrupt && is_in_all_good(site)) {
                add_firsts(by_device[alike_.sites[site].device], site, done);
            }
        }
        for (auto& [device, firsts] : by_device) {
            all.insert(all.end(), firsts.begin(), firsts.end());
            Stop stop = stop_in(firsts);
            if (stop.missing >= least_missing) {
                stop.in_b = timeline_.in_b(stop.in_a);
                stops_.emplace(device, stop);
            }
        }
        const Stop end = stop_in(all);
        if (!all.empty() && all.front().second) {
            end_ = end.in_a;
        }
    }

    Timeline::Place place_of(std::size_t number) const {
        return timeline_.place_of(all_[number].finding);
    }

    // The earliest finding about the device.
    void find_causes() {
        for (auto& [device, stop] : stops_) {
            stop.cause = all_.size();
            for (std::size_t i = 0; i < all_.size(); ++i) {
                const bool is_about = std::any_of(
                    all_[i].changes.begin(), all_[i].changes.end(),
                    [&, &device = device](auto& one) { return device_of(one.site) == device; });
                if (is_about && all_[i].finding.tier == Tier::sure &&
                    (stop.cause == all_.size() || place_of(i) < place_of(stop.cause))) {
                    stop.cause = i;
                }
            }
        }
    }

    // If the other boot ends early, the last stop before its end may be the reason, or else the
    // first one behind it. No other driver stops there.
    void find_end() {
        const auto rank = [this](const Stop& stop) {
            return stop.in_a < end_ ? std::pair(false, end_ - stop.in_a)
                                    : std::pair(true, stop.in_a - end_);
        };
        for (auto& [device, stop] : stops_) {
            if (last_ == nullptr || rank(stop) < rank(*last_)) {
                last_ = &stop;
            }
        }
        std::erase_if(stops_, [this](const auto& of) {
            return of.second.in_a >= end_ && &of.second != last_;
        });
    }

    /// Null: the finding is on its own.
    Stop* stop_before(std::size_t number) {
        const SiteFinding& of = all_[number];
        Stop* found = nullptr;
        std::size_t in_a = 0, in_b = 0;
        for (const SiteChange& change : of.changes) {
            const std::vector<Only> parts = parts_of(change);
            for (const Only& part : parts) {
                Stop* const stop = stop_before(part);
                if (stop == nullptr || stop->cause == number) {
                    return nullptr;
                }
                found = found == nullptr ? stop : found;
                ++(part.in_a ? in_a : in_b);
            }
            if (parts.empty()) {
                return nullptr;
            }
        }
        // As many new values as old ones: other values, not fewer.
        const bool is_change = in_a > 0 && in_b >= in_a;
        return is_change ? nullptr : found;
    }

    // The first stop that it may follow from.
    Stop* stop_before(const Only& part) {
        Stop* first = nullptr;
        for (auto& [device, stop] : stops_) {
            const std::uint64_t event = part.in_a ? stop.in_a : stop.in_b;
            const bool is_near = device == device_of(part.site) || device == part.behind;
            if (is_near && part.event >= event && (first == nullptr || stop.in_a < first->in_a)) {
                first = &stop;
            }
        }
        return first == nullptr && part.in_a && part.event >= end_ ? last_ : first;
    }

    // Nothing if it is not about accesses that one side does not make at all.
    std::vector<Only> parts_of(const SiteChange& change) const {
        using Kind = SiteChange::Kind;
        std::vector<Only> parts;
        if (change.kind == Kind::missing) {
            parts.push_back(
                {change.site, a_.find(change.site)->first,
                 agreed([&](const AlikeBoot& good) { return good.find(change.site)->behind; }),
                 true});
        } else if (change.kind == Kind::extra) {
            const Done& done = *b_.find(change.site);
            parts.push_back({change.site, done.first, device_of(done.behind), false});
        } else if (change.kind == Kind::values && (change.ones | change.zeros) == 0) {
            for (const Use::Value& value : change.missing) {
                parts.push_back({change.site, value.first, agreed([&](const AlikeBoot& good) {
                                     return good.find(change.site)->values.at(value.value).behind;
                                 }),
                                 true});
            }
            for (const Use::Value& value : change.extra) {
                parts.push_back({change.site, value.first, device_of(value.behind), false});
            }
        }
        return parts;
    }

    /// The device that the threads of all good boots came from; empty: they differ.
    template <typename BehindIn>
    std::string agreed(const BehindIn& behind) const {
        const std::string device = device_of(behind(a_));
        const auto goods = alike_.goods();
        return std::all_of(goods.begin(), goods.end(),
                           [&](const AlikeBoot& one) { return device_of(behind(one)) == device; })
                   ? device
                   : "";
    }

    Finding finding_of(const std::string& device, const Stop& stop) const {
        std::vector<std::size_t> after = stop.after;
        std::sort(after.begin(), after.end(), [this](std::size_t one, std::size_t other) {
            return place_of(one) < place_of(other);
        });
        Finding finding;
        finding.kind = "stopped";
        Names names;
        for (const std::size_t i : after) {
            for (const SiteChange& change : all_[i].changes) {
                names.add(alike_.sites[change.site]);
            }
            add(finding.a, all_[i].finding, all_[i].finding.a);
            add(finding.b, all_[i].finding, all_[i].finding.b);
        }
        names.fill(finding);
        finding.difference = fmt::format(
            "{} stops: of {} accesses and values that are new from here on, {} are only in A; "
            "--all lists these {} findings",
            device, stop.all, stop.missing, after.size());
        return finding;
    }

    static void add(Side& to, const Finding& finding, const Side& side) {
        if (!side.lines.empty()) {
            diff::add(to, side.count, side.event);
            to.lines.push_back(fmt::format("{} {} ({}): {}", finding.device, finding.reg,
                                           finding.function, finding.difference));
        }
    }

    const Alike& alike_;
    const AlikeBoot& a_;
    const AlikeBoot& b_;
    const std::vector<SiteFinding>& all_;
    const Timeline& timeline_;
    std::map<std::string, Stop> stops_; ///< by device
    /// If the other boot ends early: the first event of the first good boot behind that.
    std::uint64_t end_ = UINT64_MAX;
    Stop* last_ = nullptr; ///< the one that an early end follows from
};

} // namespace

std::vector<Finding> with_stops(const Alike& alike, const Timeline& timeline,
                                const std::vector<SiteFinding>& all) {
    return StopTeller(alike, timeline, all).take();
}

} // namespace mmioscope::diff
