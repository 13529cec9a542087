#include "diff/findings.hpp"

#include "diff/words.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <numeric>
#include <set>
#include <string>
#include <tuple>

namespace mmioscope::diff {

namespace {

using Kind = SiteChange::Kind;

void add_once(std::vector<std::string>& list, const std::string& item) {
    if (std::find(list.begin(), list.end(), item) == list.end()) {
        list.push_back(item);
    }
}

std::string code_text(const Site& site) {
    return site.function.empty() ? fmt::format("{:#010x}", site.place) : site.function;
}

/// Accesses of a side, with the first one.
void add(Side& side, std::uint64_t count, std::uint64_t event) {
    side.event = side.event == 0 ? event : std::min(side.event, event);
    side.count += count;
}

/// When it is seen for the first time, by the number of an event of whichever boot.
std::uint64_t first_event(const Finding& finding) {
    return finding.a.event == 0 ? finding.b.event : finding.a.event;
}

/// What a finding tells of several sites.
struct Names {
    std::vector<std::string> devices, registers, functions;

    void add(const Site& site) {
        add_once(devices, site.device);
        add_once(registers, site.reg);
        add_once(functions, code_text(site));
    }
    void give(Finding& to) const {
        to.device = list_text(devices);
        to.reg = list_text(registers);
        to.function = list_text(functions);
    }
};

/// What sites belong to, in one way or another; empty: to nothing.
using NameOf = std::string (*)(const Site&);

std::string device_of(const Site& site) {
    return site.device;
}
std::string module_of(const Site& site) {
    const std::size_t at = site.function.rfind(" [");
    return at == std::string::npos ? "" : site.function.substr(at + 1);
}
std::string function_of(const Site& site) {
    return code_text(site);
}
std::string call_of(const Site& site) {
    return fmt::format("{}\n{}", site.device, code_text(site));
}

class Teller {
public:
    Teller(const Alike& alike, const Changes& changes, const Sites& sites)
        : alike_(alike), changes_(changes), sites_(sites), left_(changes.sites) {}

    std::vector<Finding> take() {
        tell_wholes(device_of, "device");
        tell_wholes(module_of, "module");
        tell_wholes(function_of, "function");
        tell_wholes(call_of, "function");
        tell_other_registers();
        tell_registers();
        tell_counts();
        tell_orders();
        std::stable_sort(findings_.begin(), findings_.end(), [](const auto& a, const auto& b) {
            return std::pair(a.tier, first_event(a)) < std::pair(b.tier, first_event(b));
        });
        return std::move(findings_);
    }

private:
    const Site& site(std::uint32_t number) const { return alike_.sites[number]; }
    const Register* description(const Site& site) const { return sites_.description(site); }
    const Done* done(const AlikeBoot& boot, std::uint32_t number) const {
        const auto found = boot.done.find(number);
        return found == boot.done.end() ? nullptr : &found->second;
    }

    // What one side has left alone as a whole (a device, a module, a function) is one finding.
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
            if (changes.size() == 1) { // its site says more
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
        const AlikeBoot& boot = in_a ? alike_.boots.front() : alike_.boots.back();
        for (const SiteChange& change : changes) {
            const Site& what = site(change.site);
            const Done& of = boot.done.at(change.site);
            names.add(what);
            add(side, of.count, of.first);
            side.lines.push_back(fmt::format("{} {} {} ({}), {}", what.write ? "write" : "read",
                                             what.device, what.reg, code_text(what),
                                             times_text(of.count)));
        }
        names.give(finding);
        finding.difference =
            fmt::format("the {} only in {}: {} accesses", kind, in_a ? "A" : "B", side.count);
        findings_.push_back(finding);
    }

    // The same value by the same instruction, to another register.
    void tell_other_registers() {
        std::vector<SiteChange> rest;
        std::vector<bool> gone(left_.size());
        for (std::size_t i = 0; i < left_.size(); ++i) {
            for (std::size_t j = 0; j < left_.size() && !gone[i]; ++j) {
                if (!gone[j] && is_moved(left_[i], left_[j])) {
                    tell_other_register(left_[i], left_[j]);
                    gone[i] = gone[j] = true;
                }
            }
        }
        for (std::size_t i = 0; i < left_.size(); ++i) {
            if (!gone[i]) {
                rest.push_back(left_[i]);
            }
        }
        left_ = std::move(rest);
    }

    bool is_moved(const SiteChange& from, const SiteChange& to) const {
        const Site& a = site(from.site);
        const Site& b = site(to.site);
        return a.write && b.write && a.offset != b.offset && a.device == b.device &&
               a.function == b.function && a.place == b.place && from.missing.size() == 1 &&
               from.extra.empty() && to.extra.size() == 1 && to.missing.empty() &&
               from.missing.front().value == to.extra.front().value;
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
        findings_.push_back(finding);
    }

    Finding begun(std::uint32_t number, const char* kind) const {
        Finding finding;
        finding.kind = kind;
        finding.device = site(number).device;
        finding.reg = site(number).reg;
        finding.function = code_text(site(number));
        return finding;
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

    // What is left, by register and function.
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
        const bool one = changes.size() == 1;
        if (one && (first.kind == Kind::answer || first.kind == Kind::back)) {
            finding.kind = first.kind == Kind::answer ? "answer" : "written-back";
            finding.tier = Tier::less_sure;
        } else if (extra.empty() && !missing.empty()) {
            finding.kind = "missing";
        } else if (missing.empty() && !extra.empty()) {
            finding.kind = "extra";
        } else if (missing.empty()) {
            finding.kind = one && first.kind == Kind::bits ? "bits" : finding.kind;
        }
        if (finding.kind == "written-back") {
            finding.difference = values_text(number, missing, extra) + ", as the register gave";
        } else if (!site(number).write && finding.kind != "answer") {
            finding.difference = read_text(first, finding);
        } else {
            finding.difference = values_text(number, missing, extra);
        }
        finding.difference += bits_text(ones, zeros, finding.difference.empty());
        findings_.push_back(finding);
    }

    std::string read_text(const SiteChange& change, Finding& finding) const {
        const bool in_a = change.kind == Kind::missing;
        const AlikeBoot& boot = in_a ? alike_.boots.front() : alike_.boots.back();
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

    // Counts of one site belong together, and so do writes of a device that are done as many times
    // more or less.
    void tell_counts() {
        std::map<std::uint32_t, std::vector<CountChange>> by_site;
        for (const CountChange& change : changes_.counts) {
            by_site[change.write.site].push_back(change);
        }
        std::map<std::tuple<std::string, std::int64_t, std::uint32_t>, std::vector<CountChange>>
            groups;
        for (const auto& [number, changes] : by_site) {
            const auto more = static_cast<std::int64_t>(changes[0].b - changes[0].a);
            auto& group = changes.size() == 1 ? groups[{site(number).device, more, 0}]
                                              : groups[{site(number).device, 0, number}];
            group.insert(group.end(), changes.begin(), changes.end());
        }
        for (const auto& [name, changes] : groups) {
            tell_count(changes);
        }
    }

    void tell_count(const std::vector<CountChange>& changes) {
        Finding finding = begun(changes.front().write.site, "count");
        finding.tier = Tier::less_sure;
        Names names;
        std::vector<std::string> words;
        for (const CountChange& change : changes) {
            names.add(site(change.write.site));
            words.push_back(
                fmt::format("{} {} -> {} times", write_text(change.write), change.a, change.b));
            add_count(finding.a, alike_.boots.front(), change.write, change.a);
            add_count(finding.b, alike_.boots.back(), change.write, change.b);
        }
        names.give(finding);
        finding.difference = list_text(words);
        findings_.push_back(finding);
    }

    void add_count(Side& side, const AlikeBoot& boot, const Write& write,
                   std::uint64_t count) const {
        add(side, count, first_of(boot, write));
        side.lines.push_back(fmt::format("{} ({}), {}", write_text(write),
                                         code_text(site(write.site)), times_text(count)));
    }

    std::uint64_t first_of(const AlikeBoot& boot, const Write& write) const {
        const Done* const of = done(boot, write.site);
        if (of == nullptr) {
            return 0;
        }
        const auto value = of->values.find(write.value);
        return write.data || value == of->values.end() ? of->first : value->second.first;
    }

    /// "Clock=0x100".
    std::string write_text(const Write& write) const {
        const std::string& reg = site(write.site).reg;
        return write.data ? reg : fmt::format("{}={:#x}", reg, write.value);
    }

    // Changes that have a write in common belong together, and so do those behind writes of one
    // function to a device.
    void tell_orders() {
        const std::vector<OrderChange>& orders = changes_.orders;
        std::vector<std::size_t> group(orders.size());
        std::iota(group.begin(), group.end(), 0);
        std::map<std::string, std::size_t> known;
        for (std::size_t i = 0; i < orders.size(); ++i) {
            for (const std::string& name : names_of(orders[i])) {
                const std::size_t before = group[known.try_emplace(name, i).first->second];
                std::replace(group.begin(), group.end(), before, std::size_t{group[i]});
            }
        }
        std::map<std::size_t, std::vector<OrderChange>> groups;
        for (std::size_t i = 0; i < orders.size(); ++i) {
            groups[group[i]].push_back(orders[i]);
        }
        for (const auto& [number, changes] : groups) {
            tell_order(changes);
        }
    }

    std::vector<std::string> names_of(const OrderChange& change) const {
        std::vector<std::string> names{call_of(site(change.write.site))};
        for (const Write& write : writes_of(change)) {
            names.push_back(fmt::format("{} {}", write.site, write_text(write)));
        }
        return names;
    }

    static std::vector<Write> writes_of(const OrderChange& change) {
        std::vector<Write> writes{change.write};
        writes.insert(writes.end(), change.a.begin(), change.a.end());
        writes.insert(writes.end(), change.b.begin(), change.b.end());
        return writes;
    }

    void tell_order(const std::vector<OrderChange>& changes) {
        Finding finding = begun(changes.front().write.site, "order");
        finding.tier = Tier::less_sure;
        Names names;
        for (const OrderChange& change : changes) {
            for (const Write& write : writes_of(change)) {
                names.add(site(write.site));
            }
            add_order(finding.a, alike_.boots.front(), change.write, change.a);
            add_order(finding.b, alike_.boots.back(), change.write, change.b);
        }
        names.give(finding);
        const OrderChange& told = *std::max_element(
            changes.begin(), changes.end(), [](const OrderChange& one, const OrderChange& other) {
                return one.a.size() * one.b.size() < other.a.size() * other.b.size();
            });
        finding.difference = fmt::format("behind {} comes {} in A, {} in B", write_text(told.write),
                                         follower_text(told.a), follower_text(told.b));
        findings_.push_back(finding);
    }

    std::string follower_text(const std::vector<Write>& writes) const {
        std::vector<std::string> words;
        for (const Write& write : writes) {
            words.push_back(write_text(write));
        }
        return words.empty() ? "nothing else" : list_text(words);
    }

    void add_order(Side& side, const AlikeBoot& boot, const Write& first,
                   const std::vector<Write>& followers) const {
        for (const Write& follower : followers) {
            add(side, 0, first_of(boot, first));
            side.lines.push_back(fmt::format("{} -> {} ({})", write_text(first),
                                             write_text(follower), code_text(site(follower.site))));
        }
    }

    const Alike& alike_;
    const Changes& changes_;
    const Sites& sites_;
    std::vector<SiteChange> left_; ///< that no finding tells of
    std::vector<Finding> findings_;
};

} // namespace

std::vector<Finding> findings(const Alike& alike, const Changes& changes, const Sites& sites) {
    return Teller(alike, changes, sites).take();
}

} // namespace mmioscope::diff
