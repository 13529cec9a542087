
#include "diff/telling.hpp"

#include <fmt/format.h>

#include <map>
#include <set>
#include <string>
#include <tuple>

namespace mmioscope::diff {

namespace {

using Kind = SiteChange::Kind;

/// The name of a unit that a site belongs to (a device, a module ...); empty: none.
using NameOf = std::string (*)(const Site&);

std::string device_of(const Site& site) {
    return site.device;
}
std::string module_of(const Site& site) {
    const std::size_t at = site.function.rfind(" [");
    return at == std::string::npos ? "" : site.function.substr(at + 1);
}

class SiteTeller : private Telling {
public:
    SiteTeller(const Alike& alike, const Changes& changes, const Sites& sites)
        : Telling(alike, sites), left_(changes.sites) {}

    std::vector<SiteFinding> take() {
        tell_wholes(device_of, "device");
        tell_wholes(module_of, "module");
        tell_wholes(code_text, "function");
        tell_wholes(call_of, "function");
        tell_other_registers();
        tell_registers();
        return std::move(reported_);
    }

private:
    // A device, module or function that one side does not use at all is one finding.
    void tell_wholes(NameOf name_of, const char* kind) {
        const std::set<std::string> in_a = names_in(name_of, 0, alike_.boots.size() - 1);
        const std::set<std::string> in_b =
            names_in(name_of, alike_.boots.size() - 1, alike_.boots.size());
        std::map<std::pair<std::string, bool>, std::vector<SiteChange>> wholes;
        std::vector<SiteChange> rest;
        for (const SiteChange& change : left_) {
            const bool only_a = change.kind == Kind::missing;
            const std::string name = name_of(site(change.site));
            const bool whole = (only_a || change.kind == Kind::extra) && !name.empty() &&
                               !(only_a ? in_b : in_a).contains(name);
            (whole ? wholes[{name, only_a}] : rest).push_back(change);
        }
        for (const auto& [name, changes] : wholes) {
            if (changes.size() == 1) { // a finding about the site says more
                rest.push_back(changes.front());
            } else {
                tell_whole(changes, name.second, kind);
            }
        }
        left_ = std::move(rest);
    }

    std::set<std::string> names_in(NameOf name_of, std::size_t from, std::size_t to) const {
        std::set<std::string> names;
        for (std::size_t boot = from; boot < to; ++boot) {
            for (const auto& [number, done] : alike_.boots[boot].done) {
                names.insert(name_of(site(number)));
            }
        }
        return names;
    }

    void tell_whole(const std::vector<SiteChange>& changes, bool in_a, const char* kind) {
        Finding finding;
        finding.kind = kind;
        Names names;
        Side& side = in_a ? finding.a : finding.b;
        const AlikeBoot& boot = in_a ? a() : b();
        for (const SiteChange& change : changes) {
            const Site& what = site(change.site);
            const Done& of = boot.done.at(change.site);
            names.add(what);
            add(side, of.count, of.first);
            side.lines.push_back(fmt::format("{} {} {} ({}), {}", what.write ? "write" : "read",
                                             what.device, what.reg, code_text(what),
                                             times_text(of.count)));
        }
        names.fill(finding);
        finding.difference =
            fmt::format("the {} only in {}: {} accesses", kind, in_a ? "A" : "B", side.count);
        reported_.push_back({finding, changes});
    }

    // The same instruction wrote the same value to a different register.
    using Instruction = std::tuple<std::string, std::string, std::uint32_t, std::uint64_t>;

    Instruction instruction(const SiteChange& change, std::uint64_t value) const {
        const Site& of = site(change.site);
        return {of.device, of.function, of.place, value};
    }

    void tell_other_registers() {
        std::multimap<Instruction, std::size_t> to;
        for (std::size_t i = 0; i < left_.size(); ++i) {
            const SiteChange& change = left_[i];
            if (site(change.site).write && change.missing.empty() && change.extra.size() == 1) {
                to.emplace(instruction(change, change.extra.front().value), i);
            }
        }
        std::set<std::size_t> told;
        for (std::size_t i = 0; i < left_.size(); ++i) {
            const SiteChange& change = left_[i];
            if (!site(change.site).write || change.missing.size() != 1 || !change.extra.empty()) {
                continue;
            }
            const auto found = to.find(instruction(change, change.missing.front().value));
            if (found != to.end() &&
                site(left_[found->second].site).offset != site(change.site).offset) {
                tell_other_register(change, left_[found->second]);
                told.insert({i, found->second});
                to.erase(found);
            }
        }
        std::vector<SiteChange> rest;
        for (std::size_t i = 0; i < left_.size(); ++i) {
            if (!told.contains(i)) {
                rest.push_back(left_[i]);
            }
        }
        left_ = std::move(rest);
    }

    void tell_other_register(const SiteChange& from, const SiteChange& to) {
        Finding finding = begun(from.site, "register");
        const Use::Value& a = from.missing.front();
        const Use::Value& b = to.extra.front();
        finding.reg = site(from.site).reg + ", " + site(to.site).reg;
        finding.difference =
            fmt::format("{:#x} goes to {} instead of {}, {}", a.value, site(to.site).reg,
                        site(from.site).reg, times_text(b.count));
        add_values(finding.a, from.site, from.missing);
        add_values(finding.b, to.site, to.extra);
        reported_.push_back({finding, {from, to}});
    }

    void add_values(Side& side, std::uint32_t number, const std::vector<Use::Value>& values) const {
        const Site& what = site(number);
        for (const Use::Value& value : values) {
            add(side, value.count, value.first);
            side.lines.push_back(fmt::format("{}, {}",
                                             value_text(what, description(what), value.value),
                                             times_text(value.count)));
        }
    }

    // The remaining changes, by register and function.
    void tell_registers() {
        std::map<std::tuple<std::string, std::string, std::string, bool, bool>,
                 std::vector<SiteChange>>
            groups;
        for (const SiteChange& change : left_) {
            const Site& what = site(change.site);
            const bool weak = change.kind == Kind::answer || change.kind == Kind::back;
            groups[{what.device, what.reg, code_text(what), what.write, weak}].push_back(change);
        }
        for (const auto& [name, changes] : groups) {
            tell_register(changes);
        }
    }

    void tell_register(const std::vector<SiteChange>& changes) {
        const std::uint32_t number = changes.front().site;
        Finding finding = begun(number, "changed");
        std::vector<Use::Value> missing, extra;
        std::uint64_t ones = 0, zeros = 0;
        for (const SiteChange& change : changes) {
            add_values(finding.a, change.site, change.missing);
            add_values(finding.b, change.site, change.extra);
            missing.insert(missing.end(), change.missing.begin(), change.missing.end());
            extra.insert(extra.end(), change.extra.begin(), change.extra.end());
            ones |= change.ones;
            zeros |= change.zeros;
        }
        const SiteChange& first = changes.front();
        if (first.kind == Kind::answer || first.kind == Kind::back) {
            finding.kind = first.kind == Kind::answer ? "answer" : "written-back";
            finding.tier = Tier::less_sure;
        } else if (extra.empty() && !missing.empty()) {
            finding.kind = "missing";
        } else if (missing.empty() && !extra.empty()) {
            finding.kind = "extra";
        } else if (missing.empty()) {
            finding.kind = first.kind == Kind::bits ? "bits" : finding.kind;
        }
        if (finding.kind == "written-back") {
            finding.difference = values_text(number, missing, extra) + ", as the register gave";
        } else if (!site(number).write && finding.kind != "answer") {
            finding.difference = read_text(first, finding);
        } else {
            finding.difference = values_text(number, missing, extra);
        }
        finding.difference += bits_text(ones, zeros, finding.difference.empty());
        reported_.push_back({finding, changes});
    }

    std::string read_text(const SiteChange& change, Finding& finding) const {
        const bool in_a = change.kind == Kind::missing;
        const AlikeBoot& boot = in_a ? a() : b();
        const Done& of = boot.done.at(change.site);
        Side& side = in_a ? finding.a : finding.b;
        side = {};
        add(side, of.count, of.first);
        side.lines.push_back("read " + times_text(of.count));
        finding.kind = in_a ? "missing" : "extra";
        return fmt::format("read only in {}, {}", in_a ? "A" : "B", times_text(of.count));
    }

    std::string values_text(std::uint32_t number, const std::vector<Use::Value>& missing,
                            const std::vector<Use::Value>& extra) const {
        const Site& what = site(number);
        const Register* const reg = description(what);
        if (missing.size() == 1 && extra.size() == 1) {
            return fmt::format("{}, {}",
                               change_text(what, reg, missing.front().value, extra.front().value),
                               times_text(extra.front().count));
        }
        std::string text = side_text(what, missing, "A");
        const std::string other = side_text(what, extra, "B");
        return text + (text.empty() || other.empty() ? "" : "; ") + other;
    }

    std::string side_text(const Site& what, const std::vector<Use::Value>& values,
                          const char* side) const {
        if (values.empty()) {
            return "";
        }
        std::vector<std::string> words;
        for (const Use::Value& value : values) {
            words.push_back(value_text(what, description(what), value.value));
        }
        return fmt::format("{} only in {}", list_text(words), side);
    }

    static std::string bits_text(std::uint64_t ones, std::uint64_t zeros, bool first) {
        std::string text = ones == 0 ? "" : fmt::format("bits {:#x} are 1 only in B", ones);
        if (zeros != 0) {
            text += fmt::format("{}bits {:#x} are 0 only in B", text.empty() ? "" : ", ", zeros);
        }
        return text.empty() || first ? text : "; " + text;
    }

    std::vector<SiteChange> left_; ///< that no finding reports yet
    std::vector<SiteFinding> reported_;
};

} // namespace

std::vector<SiteFinding> site_findings(const Alike& alike, const Changes& changes,
                                       const Sites& sites) {
    return SiteTeller(alike, changes, sites).take();
}

} // namespace mmioscope::diff
