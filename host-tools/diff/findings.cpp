#include "diff/findings.hpp"

#include "diff/telling.hpp"
#include "system/escape.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <numeric>
#include <tuple>
#include <utility>

namespace mmioscope::diff {

// Changed bursts as findings.

/// One finding for each register.
std::vector<Finding> burst_findings(const Alike& alike, const Changes& changes, const Sites& sites);

// Changes of counts and of order as findings.

/// One finding for all changes that belong together.
std::vector<Finding> write_findings(const Alike& alike, const Changes& changes, const Sites& sites);

namespace {

std::vector<Finding> each(const std::vector<SiteFinding>& all) {
    std::vector<Finding> findings;
    for (const SiteFinding& one : all) {
        findings.push_back(one.finding);
    }
    return findings;
}

} // namespace

std::vector<Finding> findings(const Alike& alike, const Changes& changes, const Sites& sites,
                              Stops stops) {
    const std::vector<SiteFinding> of_sites = site_findings(alike, changes, sites);
    const Timeline timeline(alike);
    std::vector<Finding> all =
        stops == Stops::apart ? each(of_sites) : with_stops(alike, timeline, of_sites);
    for (const auto& more :
         {write_findings(alike, changes, sites), burst_findings(alike, changes, sites)}) {
        all.insert(all.end(), more.begin(), more.end());
    }
    std::stable_sort(all.begin(), all.end(), [&](const Finding& one, const Finding& other) {
        return std::pair(one.tier, timeline.place_of(one)) <
               std::pair(other.tier, timeline.place_of(other));
    });
    return all;
}

namespace {

class BurstTeller : private Telling {
public:
    BurstTeller(const Alike& alike, const Sites& sites) : Telling(alike, sites) {}

    std::vector<Finding> take(const std::vector<BurstChange>& changes) {
        std::map<std::pair<std::string, std::uint64_t>, std::vector<BurstChange>> groups;
        for (const BurstChange& change : changes) {
            const Site& what = site(change.kind.first);
            groups[{what.device, what.offset}].push_back(change);
        }
        for (const auto& [name, group] : groups) {
            tell(group);
        }
        return std::move(findings_);
    }

private:
    void tell(const std::vector<BurstChange>& changes) {
        Finding finding = begun(changes.front().kind.first, "burst");
        finding.tier = Tier::less_sure;
        Names names;
        std::vector<std::string> words;
        for (const BurstChange& change : changes) {
            const Burst* const in_a = find(a(), change.kind);
            const Burst* const in_b = find(b(), change.kind);
            name(names, *(in_a == nullptr ? in_b : in_a), change);
            words.push_back(text_of(change, in_a, in_b));
            add_side(finding.a, change, in_a);
            add_side(finding.b, change, in_b);
        }
        names.fill(finding);
        finding.difference = list_text(words);
        findings_.push_back(finding);
    }

    static const Burst* find(const AlikeBoot& boot, const BurstKind& kind) {
        const auto found = boot.bursts.find(kind);
        return found == boot.bursts.end() ? nullptr : &found->second;
    }

    // If only one side has the burst, any of its writes may be the reason.
    void name(Names& names, const Burst& burst, const BurstChange& change) const {
        for (const std::size_t i : change.words) {
            names.add(site(burst.words[i].site));
        }
        for (std::size_t i = 0; change.words.empty() && i < burst.words.size(); ++i) {
            names.add(site(burst.words[i].site));
        }
    }

    static std::string text_of(const BurstChange& change, const Burst* in_a, const Burst* in_b) {
        if (change.words.empty()) {
            return fmt::format("bursts of {} writes only in {}", change.kind.second,
                               in_b == nullptr ? "A" : "B");
        }
        const std::size_t i = change.words.front();
        const std::string more =
            change.words.size() == 1 ? "" : fmt::format(" and {} more", change.words.size() - 1);
        return fmt::format("write {} of {} is always {:#x} in A, {} in B{}", i + 1,
                           change.kind.second, in_a->words[i].ones,
                           bits_text(in_a->words[i], in_b->words[i]), more);
    }

    // The bits that B has and A has not.
    static std::string bits_text(const Burst::Word& a, const Burst::Word& b) {
        const std::uint64_t ones = b.ones & ~a.ones, zeros = b.zeros & ~a.zeros;
        std::string text = ones == 0 ? "" : fmt::format("bits {:#x} are 1", ones);
        if (zeros != 0) {
            text += fmt::format("{}bits {:#x} are 0", text.empty() ? "" : ", ", zeros);
        }
        return text;
    }

    static void add_side(Side& side, const BurstChange& change, const Burst* burst) {
        if (burst != nullptr) {
            add(side, burst->count, burst->first);
            side.lines.push_back(fmt::format("bursts of {} writes, {}", change.kind.second,
                                             times_text(burst->count)));
        }
    }
};

} // namespace

std::vector<Finding> burst_findings(const Alike& alike, const Changes& changes,
                                    const Sites& sites) {
    return BurstTeller(alike, sites).take(changes.bursts);
}

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
        names.fill(finding);
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
        names.fill(finding);
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

namespace {

using enum table::Look;

table::Cell event_cell(const Side& side) {
    return side.event == 0 ? table::Cell() : table::Cell(side.event);
}

// Both sides are equally wide; on a phone, a finding's cells are below each other.
constexpr char style[] =
    ":root{color-scheme:light dark}body{font:14px/1.4 sans-serif;margin:2em}"
    "table{border-collapse:collapse;width:100%;table-layout:fixed}"
    "td,th{border:1px solid #8886;padding:.3em .6em;text-align:left;vertical-align:top;"
    "overflow-wrap:anywhere}th:first-child{width:4em}"
    "td.a{background:#e0404020}td.b{background:#30a05020}tr.weak{opacity:.75}"
    "code{font:13px monospace;white-space:pre-wrap}"
    "@media(max-width:700px){body{margin:1em}table,tbody,tr,td{display:block}th{display:none}"
    "tr{margin-bottom:1em}}";

std::string side_html(const Side& side) {
    if (side.lines.empty()) {
        return "&mdash;";
    }
    std::string out;
    for (const std::string& line : side.lines) {
        out += fmt::format("<code>{}</code><br>", for_html(line));
    }
    return side.event == 0 ? out : out + fmt::format("<small>event {}</small>", side.event);
}

std::string row_html(const Finding& finding) {
    return fmt::format("<tr class=\"{}\"><td>{}</td><td>{}<br><b>{}</b><br>{}</td><td>{}</td>"
                       "<td class=\"a\">{}</td><td class=\"b\">{}</td></tr>\n",
                       finding.tier == Tier::sure ? "sure" : "weak", tier_text(finding.tier),
                       for_html(finding.device), for_html(finding.reg), for_html(finding.function),
                       for_html(finding.difference), side_html(finding.a), side_html(finding.b));
}

} // namespace

table::Table table_of(std::span<const Finding> findings) {
    table::Table table{{{"tier", "tier", words, 9},
                        {"kind"},
                        {"device", "device", words, 12},
                        {"register", "register", words, 12},
                        {"function", "function", words, 16},
                        {"difference", "difference"},
                        {"count_a"},
                        {"count_b"},
                        {"event_a"},
                        {"event_b"}},
                       {}};
    for (const Finding& finding : findings) {
        table.rows.push_back({std::string_view(tier_text(finding.tier)), finding.kind,
                              finding.device, finding.reg, finding.function, finding.difference,
                              finding.a.count, finding.b.count, event_cell(finding.a),
                              event_cell(finding.b)});
    }
    return table;
}

std::size_t count_sure(std::span<const Finding> findings) {
    const auto is_sure = [](const Finding& finding) { return finding.tier == Tier::sure; };
    return static_cast<std::size_t>(std::count_if(findings.begin(), findings.end(), is_sure));
}

std::vector<std::string> notes(const Alike& alike, std::span<const Boot> boots) {
    std::vector<std::string> notes;
    if (alike.builds == Builds::different) {
        notes.push_back("the kernels are of different builds: places within functions are not "
                        "compared");
    }
    for (const Boot& boot : boots) {
        if (boot.left_out > 0) {
            notes.push_back(fmt::format("{}: more different accesses than are kept; {} were not "
                                        "compared",
                                        for_terminal(boot.name), boot.left_out));
        }
    }
    return notes;
}

std::string verdict(std::span<const Finding> findings) {
    const std::size_t sure = count_sure(findings);
    const std::size_t others = findings.size() - sure;
    const std::string rest = others == 0 ? "" : fmt::format("{} less sure", others);
    if (sure == 0) {
        return "same" + (others == 0 ? "" : ", but for " + rest);
    }
    return fmt::format("different: {} sure{}", sure, others == 0 ? "" : ", " + rest);
}

std::string html(std::span<const Finding> findings, const Heading& heading) {
    std::string page =
        fmt::format("<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">"
                    "<meta name=\"viewport\" content=\"width=device-width\">"
                    "<title>mmioscope diff</title><style>{}</style></head><body>\n"
                    "<h1>mmioscope diff</h1>\n",
                    style);
    std::string files;
    for (const std::string& file : heading.a) {
        files += (files.empty() ? "" : ", ") + for_html(file);
    }
    page += fmt::format("<p>A: {}<br>B: {}</p>\n<p>{}</p>\n", files, for_html(heading.b),
                        for_html(heading.verdict.empty() ? verdict(findings) : heading.verdict));
    for (const std::string& note : heading.notes) {
        page += fmt::format("<p>{}</p>\n", for_html(note));
    }
    page += "<table><tr><th>tier</th><th>what</th><th>difference</th><th>A</th><th>B</th></tr>\n";
    for (const Finding& finding : findings) {
        page += row_html(finding);
    }
    return page + "</table></body></html>\n";
}

} // namespace mmioscope::diff
