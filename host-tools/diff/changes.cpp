#include "diff/changes.hpp"

#include <algorithm>
#include <iterator>
#include <map>
#include <span>

namespace mmioscope::diff {

// The rules for bursts of data: their lengths, and words that never differ.

/// Leaves out bursts with a write that is in `told`.
std::vector<BurstChange> burst_changes(const Alike& alike, const Told& told);

// The rules for writes: how often each happens, and which follows which.

/// Leaves out writes that are in `told`, and adds to it those that it reports.
std::vector<CountChange> count_changes(const Alike& alike, Told& told);
/// Leaves out writes that are in `told`.
std::vector<OrderChange> order_changes(const Alike& alike, Told& told);

// Writes in a site or count change are not also reported as a change of order.
Changes changes(const Alike& alike) {
    Told told;
    Changes all;
    all.sites = site_changes(alike, told);
    all.bursts = burst_changes(alike, told);
    all.counts = count_changes(alike, told);
    all.orders = order_changes(alike, told);
    return all;
}

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

namespace {

// This many good boots are enough to expect a write equally often.
constexpr std::size_t enough_for_counts = 3;

class WriteComparison {
public:
    WriteComparison(const Alike& alike, Told& told)
        : alike_(alike), goods_(alike.goods()), other_(alike.other()), told_(told) {}

    std::vector<CountChange> counts() {
        compare_counts();
        return std::move(counts_);
    }
    std::vector<OrderChange> orders() {
        compare_order();
        return std::move(orders_);
    }

private:
    using Counts = std::map<Write, std::uint64_t>;
    using Followers = std::map<Write, Counts>; ///< how often each follows

    /// How often each write happened, without those about interrupts.
    Counts counts_of(const AlikeBoot& boot) const {
        Counts counts;
        for (const auto& [site, done] : boot.done) {
            if (!alike_.sites[site].write || alike_.sites[site].interrupt) {
                continue;
            }
            if (done.data) {
                counts[{site, true, 0}] = done.count;
                continue;
            }
            for (const auto& [value, use] : done.values) {
                counts[{site, false, value}] = use.count;
            }
        }
        return counts;
    }

    static void add_varying(std::set<std::uint32_t>& sites, const Counts& one,
                            const Counts& other) {
        for (const auto& [write, count] : one) {
            const auto found = other.find(write);
            if (found == other.end() || found->second != count) {
                sites.insert(write.site);
            }
        }
    }

    // Compares no value of a site where the good boots write any value differently often.
    void compare_counts() {
        if (goods_.size() < enough_for_counts) {
            return;
        }
        std::vector<Counts> goods;
        for (const AlikeBoot& good : goods_) {
            goods.push_back(counts_of(good));
        }
        const auto others = counts_of(other_);
        std::set<std::uint32_t> varying; // sites
        for (const auto& good : goods) {
            add_varying(varying, goods.front(), good);
            add_varying(varying, good, goods.front());
        }
        for (const auto& [write, count] : goods.front()) {
            const auto other = others.find(write);
            if (other != others.end() && other->second != count && !told_.has(write) &&
                !varying.contains(write.site)) {
                counts_.push_back({write, count, other->second});
                told_.writes.insert(write);
            }
        }
    }

    static Followers followers_of(const AlikeBoot& boot) {
        Followers all;
        for (const auto& [pair, count] : boot.pairs) {
            all[pair.first][pair.second] = count;
        }
        return all;
    }

    void compare_order() {
        std::set<Write> writes;
        for (const AlikeBoot& boot : alike_.boots) {
            followers_.push_back(followers_of(boot));
            for (const auto& [write, followers] : followers_.back()) {
                writes.insert(write);
            }
        }
        find_steady();
        const std::span<const Followers> goods = std::span(followers_).first(goods_.size());
        for (const Write& write : writes) {
            const std::set<Write> followers = find(goods.front(), write);
            const bool same = std::all_of(goods.begin(), goods.end(), [&](const Followers& good) {
                return find(good, write) == followers;
            });
            const std::set<Write> now = find(followers_.back(), write);
            if (told_.has(write) || !is_in_all(write)) {
                continue;
            }
            if (!(same && now != followers && add_order(write, followers, now)) &&
                steady_.contains(write)) {
                add_exchange(write);
            }
        }
    }

    // The writes that all boots, the other one included, make equally often.
    void find_steady() {
        if (goods_.size() < enough_for_counts) {
            return;
        }
        std::vector<Counts> all;
        for (const AlikeBoot& boot : alike_.boots) {
            all.push_back(counts_of(boot));
        }
        for (const auto& [write, count] : all.front()) {
            if (std::all_of(all.begin(), all.end(), [&, &write = write, &count = count](auto& of) {
                    const auto found = of.find(write);
                    return found != of.end() && found->second == count;
                })) {
                steady_.insert(write);
            }
        }
    }

    /// How much more often `second` follows `first` in the other boot; nothing if that varies in
    /// the good boots.
    std::int64_t more_often(const Write& first, const Write& second) const {
        const std::uint64_t count = count_of(alike_.boots.front(), first, second);
        const bool same = std::all_of(goods_.begin(), goods_.end(), [&](const AlikeBoot& good) {
            return count_of(good, first, second) == count;
        });
        return same ? static_cast<std::int64_t>(count_of(other_, first, second) - count) : 0;
    }

    static std::uint64_t count_of(const AlikeBoot& boot, const Write& first, const Write& second) {
        const auto found = boot.pairs.find({first, second});
        return found == boot.pairs.end() ? 0 : found->second;
    }

    // All are written as often as ever, but some writes have exchanged their places: as much less
    // often as one follows another does, or it comes before instead.
    void add_exchange(const Write& write) {
        std::set<Write> followers;
        for (const Followers& boot : followers_) {
            followers.merge(find(boot, write));
        }
        OrderChange change{write, {}, {}};
        std::int64_t sum = 0, reversed = 0;
        for (const Write& next : followers) {
            const std::int64_t more = steady_.contains(next) ? more_often(write, next) : 0;
            if (more != 0) {
                (more < 0 ? change.a : change.b).push_back(next);
                sum += more;
                reversed += more < 0 ? more + more_often(next, write) : 0;
            }
        }
        if (!change.a.empty() && (change.b.empty() ? reversed == 0 : sum == 0)) {
            orders_.push_back(change);
        }
    }

    static bool is_in(const AlikeBoot& boot, const Write& write) {
        const Done* const done = boot.find(write.site);
        return done != nullptr && (write.data || done->values.contains(write.value));
    }
    // A write that only one side did has no order to compare.
    bool is_in_all(const Write& write) const {
        return std::all_of(alike_.boots.begin(), alike_.boots.end(),
                           [&](const AlikeBoot& boot) { return is_in(boot, write); });
    }

    static std::set<Write> find(const Followers& followers, const Write& write) {
        std::set<Write> all;
        if (const auto found = followers.find(write); found != followers.end()) {
            for (const auto& [next, count] : found->second) {
                all.insert(next);
            }
        }
        return all;
    }

    // Whether `others` are all in the function of `write`.
    bool are_near(const Write& write, std::span<const Write> others) const {
        return std::all_of(others.begin(), others.end(), [&](const Write& other) {
            return alike_.sites[other.site].function == alike_.sites[write.site].function;
        });
    }

    // The order across functions depends on their callers. There, one write must be missing and
    // another one must be in its place. A single good boot shows an order only within a function,
    // and only if the same write always follows.
    bool is_certain(const OrderChange& change, std::size_t followers_a,
                    std::size_t followers_b) const {
        const bool near = are_near(change.write, change.a) && are_near(change.write, change.b);
        const bool instead = !change.a.empty() && !change.b.empty();
        return goods_.size() > 1 ? near || instead : near && followers_a == 1 && followers_b == 1;
    }

    // Skips it if a change already reports one of the writes: that is why the next write differs.
    // Returns whether it is reported, now or already.
    bool add_order(const Write& write, const std::set<Write>& a, const std::set<Write>& b) {
        const auto told = [this](const Write& one) { return told_.has(one); };
        if (std::any_of(a.begin(), a.end(), told) || std::any_of(b.begin(), b.end(), told)) {
            return true;
        }
        OrderChange change{write, {}, {}};
        std::set_difference(a.begin(), a.end(), b.begin(), b.end(), std::back_inserter(change.a));
        std::set_difference(b.begin(), b.end(), a.begin(), a.end(), std::back_inserter(change.b));
        const auto is_new = [this](const Write& one) { return !is_in_all(one); };
        std::erase_if(change.a, is_new);
        std::erase_if(change.b, is_new);
        if ((change.a.empty() && change.b.empty()) || !is_certain(change, a.size(), b.size())) {
            return false;
        }
        orders_.push_back(change);
        return true;
    }

    const Alike& alike_;
    std::span<const AlikeBoot> goods_;
    const AlikeBoot& other_;
    Told& told_;
    std::vector<CountChange> counts_;
    std::vector<OrderChange> orders_;
    std::vector<Followers> followers_; ///< by boot
    std::set<Write> steady_;           ///< that every boot makes equally often
};

} // namespace

std::vector<CountChange> count_changes(const Alike& alike, Told& told) {
    return WriteComparison(alike, told).counts();
}

std::vector<OrderChange> order_changes(const Alike& alike, Told& told) {
    return WriteComparison(alike, told).orders();
}

} // namespace mmioscope::diff
