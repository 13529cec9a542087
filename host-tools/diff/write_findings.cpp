#include "diff/write_findings.hpp"

#include "diff/telling.hpp"
#include "diff/words.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <numeric>
#include <string>
#include <tuple>

namespace mmioscope::diff {

namespace {

class WriteTeller : private Telling {
public:
    WriteTeller(const Alike& alike, const Changes& changes, const Sites& sites)
        : Telling(alike, sites), changes_(changes) {}

    std::vector<Finding> take() {
        tell_counts();
        tell_orders();
        return std::move(findings_);
    }

private:
    // Counts of one site belong together, and so do writes to one device whose counts changed by
    // the same number.
    void tell_counts() {
        std::map<std::uint32_t, std::vector<CountChange>> by_site;
        for (const CountChange& change : changes_.counts) {
            by_site[change.write.site].push_back(change);
        }
        std::map<std::tuple<std::string, std::int64_t, std::uint32_t>, std::vector<CountChange>>
            groups;
        for (const auto& [number, changes] : by_site) {
            const auto more = static_cast<std::int64_t>(changes.front().b - changes.front().a);
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
            add_count(finding.a, a(), change.write, change.a);
            add_count(finding.b, b(), change.write, change.b);
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
        const auto of = boot.done.find(write.site);
        if (of == boot.done.end()) {
            return 0;
        }
        const auto value = of->second.values.find(write.value);
        return write.data || value == of->second.values.end() ? of->second.first
                                                              : value->second.first;
    }

    /// "Clock=0x100".
    std::string write_text(const Write& write) const {
        const std::string& reg = site(write.site).reg;
        return write.data ? reg : fmt::format("{}={:#x}", reg, write.value);
    }

    // Changes that share a write belong together, and so do changes after writes of one function to
    // one device.
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
            add_order(finding.a, a(), change.write, change.a);
            add_order(finding.b, b(), change.write, change.b);
        }
        names.give(finding);
        const OrderChange& told = *std::max_element(
            changes.begin(), changes.end(), [](const OrderChange& one, const OrderChange& other) {
                return one.a.size() * one.b.size() < other.a.size() * other.b.size();
            });
        finding.difference =
            fmt::format("{} is followed by {} in A, by {} in B", write_text(told.write),
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

    const Changes& changes_;
};

} // namespace

std::vector<Finding> write_findings(const Alike& alike, const Changes& changes,
                                    const Sites& sites) {
    return WriteTeller(alike, changes, sites).take();
}

} // namespace mmioscope::diff
