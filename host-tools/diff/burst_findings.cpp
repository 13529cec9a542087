#include "diff/burst_findings.hpp"

#include "diff/telling.hpp"
#include "diff/words.hpp"

#include <fmt/format.h>

#include <map>
#include <string>
#include <utility>

namespace mmioscope::diff {

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
        names.give(finding);
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

} // namespace mmioscope::diff
