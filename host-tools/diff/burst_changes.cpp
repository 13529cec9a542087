#include "diff/burst_changes.hpp"

#include <algorithm>
#include <map>
#include <set>

namespace mmioscope::diff {

namespace {

// This many good boots are enough to tell what never varies in data.
constexpr std::size_t enough_for_bursts = 3;
// In each good boot; what happens only once may be something else, or nothing, the next time.
constexpr std::uint64_t least_bursts = 2;

class BurstComparison {
public:
    BurstComparison(const Alike& alike, const Told& told)
        : goods_(alike.goods()), other_(alike.other()), told_(told) {
        for (const AlikeBoot& good : goods_) {
            for (const auto& [kind, burst] : good.bursts) {
                ++boots_[kind];
            }
        }
        for (const auto& [kind, boots] : boots_) {
            if (boots == 1) {
                open_.insert(kind.first);
            }
        }
    }

    std::vector<BurstChange> take() const {
        std::vector<BurstChange> changes;
        for (const auto& [kind, boots] : boots_) {
            const auto now = other_.bursts.find(kind);
            if (!is_usual(kind) || is_told(goods_.front().bursts.at(kind))) {
                continue;
            }
            if (now == other_.bursts.end()) {
                changes.push_back({kind, {}});
            } else if (const auto words = changed(kind, now->second); !words.empty()) {
                changes.push_back({kind, words});
            }
        }
        for (const auto& [kind, burst] : other_.bursts) {
            // Where one good boot has a length that no other has, the next may have a new one, too.
            if (!boots_.contains(kind) && !open_.contains(kind.first) && !is_told(burst)) {
                changes.push_back({kind, {}});
            }
        }
        return changes;
    }

private:
    bool is_usual(const BurstKind& kind) const {
        return std::all_of(goods_.begin(), goods_.end(), [&kind](const AlikeBoot& good) {
            const auto found = good.bursts.find(kind);
            return found != good.bursts.end() && found->second.count >= least_bursts;
        });
    }

    bool is_told(const Burst& burst) const {
        return std::any_of(burst.words.begin(), burst.words.end(),
                           [this](const auto& word) { return told_.sites.contains(word.site); });
    }

    std::vector<std::size_t> changed(const BurstKind& kind, const Burst& now) const {
        std::vector<std::size_t> words;
        for (std::size_t i = 0; i < now.words.size(); ++i) {
            const std::uint64_t ones = goods_.front().bursts.at(kind).words[i].ones;
            const bool constant =
                std::all_of(goods_.begin(), goods_.end(), [&](const AlikeBoot& good) {
                    const Burst::Word& word = good.bursts.at(kind).words[i];
                    return word.is_constant() && word.ones == ones;
                });
            if (constant && (now.words[i].ones != ones || now.words[i].zeros != ~ones)) {
                words.push_back(i);
            }
        }
        return words;
    }

    std::span<const AlikeBoot> goods_;
    const AlikeBoot& other_;
    const Told& told_;
    std::map<BurstKind, std::size_t> boots_; ///< the number of good ones with such bursts
    std::set<std::uint32_t> open_;           ///< sites whose bursts have any length
};

} // namespace

std::vector<BurstChange> burst_changes(const Alike& alike, const Told& told) {
    return alike.goods().size() < enough_for_bursts ? std::vector<BurstChange>()
                                                    : BurstComparison(alike, told).take();
}

} // namespace mmioscope::diff
