#include "diff/changes.hpp"

#include <algorithm>
#include <iterator>
#include <string>
#include <tuple>

namespace mmioscope::diff {

namespace {

// So many good boots show that something is always the same.
constexpr std::size_t enough_for_counts = 3;
constexpr std::size_t enough_for_answers = 3;

constexpr std::uint64_t interrupt_mask = 0x3ff;
constexpr std::uint64_t first_shared = 32; ///< interrupts below are a CPU's own: SGIs and PPIs

class Comparison {
public:
    explicit Comparison(const Alike& alike)
        : alike_(alike), goods_(std::span(alike.boots).first(alike.boots.size() - 1)),
          other_(alike.boots.back()) {
        for (std::uint32_t number = 0; number < alike.sites.size(); ++number) {
            const Site& site = alike.sites[number];
            if (!site.write) {
                reads_.emplace(std::pair(site.device, site.offset), number);
            }
        }
    }

    Changes take() {
        if (alike_.builds == Builds::different) {
            match_functions();
        }
        for (std::uint32_t site = 0; site < alike_.sites.size(); ++site) {
            if (!matched_.contains(site)) {
                compare_site(site);
            }
        }
        compare_counts();
        compare_order();
        return std::move(changes_);
    }

private:
    using Kind = SiteChange::Kind;
    using Followers = std::map<Write, std::set<Write>>;
    using Counts = std::map<Write, std::uint64_t>;

    /// Null: the boot has not been there.
    static const Done* find(const AlikeBoot& boot, std::uint32_t site) {
        const auto found = boot.done.find(site);
        return found == boot.done.end() ? nullptr : &found->second;
    }

    /// Of those good boots that have it.
    std::vector<const Done*> all_good(std::uint32_t site) const {
        std::vector<const Done*> all;
        for (const AlikeBoot& boot : goods_) {
            if (const Done* const done = find(boot, site)) {
                all.push_back(done);
            }
        }
        return all;
    }

    // In another build another function may do it: where the first one was inlined, for example.
    void match_functions() {
        const auto what = [this](std::uint32_t site) {
            const Site& of = alike_.sites[site];
            return std::tuple(of.device, of.offset, of.size, of.write);
        };
        std::multimap<std::tuple<std::string, std::uint64_t, unsigned, bool>, std::uint32_t> extra;
        for (const auto& [site, done] : other_.done) {
            if (all_good(site).empty()) {
                extra.emplace(what(site), site);
            }
        }
        for (std::uint32_t site = 0; site < alike_.sites.size(); ++site) {
            const std::vector<const Done*> goods = all_good(site);
            const auto found = extra.find(what(site));
            if (goods.size() == goods_.size() && find(other_, site) == nullptr &&
                found != extra.end()) {
                matched_.insert({site, found->second});
                compare_both(site, goods, other_.done.at(found->second));
                extra.erase(found);
            }
        }
    }

    void compare_both(std::uint32_t site, std::span<const Done* const> goods, const Done& other) {
        alike_.sites[site].write ? compare_values(site, goods, other)
                                 : compare_answers(site, goods, other);
    }

    void compare_site(std::uint32_t site) {
        const std::vector<const Done*> goods = all_good(site);
        const Done* const other = find(other_, site);
        if (other == nullptr) {
            if (goods.size() == goods_.size()) {
                add_whole(Kind::missing, site, *goods.front());
            }
        } else if (goods.empty()) {
            add_whole(Kind::extra, site, *other);
        } else if (goods.size() == goods_.size()) {
            compare_both(site, goods, *other);
        }
    }

    void add_whole(Kind kind, std::uint32_t site, const Done& done) {
        SiteChange change{kind, site, {}, {}, 0, 0};
        std::vector<Use::Value>& values = kind == Kind::missing ? change.missing : change.extra;
        for (const auto& [value, use] : done.values) {
            values.push_back(use);
        }
        changes_.sites.push_back(change);
        told_sites_.insert(site);
    }

    /// In how many of them a value is.
    static std::map<std::uint64_t, std::size_t> boots_by_value(std::span<const Done* const> goods) {
        std::map<std::uint64_t, std::size_t> boots;
        for (const Done* good : goods) {
            for (const auto& value : good->values) {
                ++boots[value.first];
            }
        }
        return boots;
    }

    // Of interrupts only devices' own are compared: others come as the scheduler likes.
    bool is_compared(const Site& site, std::uint64_t value) const {
        return !site.interrupt ||
               (site.reg != "GICD_SGIR" && (value & interrupt_mask) >= first_shared);
    }

    void compare_values(std::uint32_t site, std::span<const Done* const> goods, const Done& other) {
        const auto boots = boots_by_value(goods);
        const bool data = other.data || std::any_of(goods.begin(), goods.end(),
                                                    [](const Done* good) { return good->data; });
        // A value that one good boot has and no other: the next boot may have one of its own.
        const bool open = goods.size() > 1 && std::any_of(boots.begin(), boots.end(),
                                                          [](auto& of) { return of.second == 1; });
        SiteChange change{Kind::values, site, {}, {}, 0, 0};
        const Site& what = alike_.sites[site];
        for (const auto& [value, number] : boots) {
            if (!data && number == goods.size() && !other.values.contains(value) &&
                is_compared(what, value)) {
                change.missing.push_back(goods.front()->values.at(value));
            }
        }
        for (const auto& [value, use] : other.values) {
            if (!data && !open && !boots.contains(value) && is_compared(what, value)) {
                change.extra.push_back(use);
            }
        }
        if (data || open) {
            find_bits(change, goods, other);
        }
        take_written_back(change, boots);
        add(change);
    }

    /// All values that a register gave in these boots.
    std::set<std::uint64_t> answers(const Site& written, std::span<const AlikeBoot> boots) const {
        std::set<std::uint64_t> values;
        const auto [first, last] = reads_.equal_range({written.device, written.offset});
        for (auto read = first; read != last; ++read) {
            for (const AlikeBoot& boot : boots) {
                if (const Done* const done = find(boot, read->second)) {
                    for (const auto& [value, use] : done->values) {
                        values.insert(value);
                    }
                }
            }
        }
        return values;
    }

    // A register was read, some bits were changed, and all were written: where the value differs as
    // what was read differs, the device did it.
    void take_written_back(SiteChange& change, const std::map<std::uint64_t, std::size_t>& goods) {
        if (change.extra.empty()) {
            return;
        }
        const Site& written = alike_.sites[change.site];
        const std::set<std::uint64_t> before = answers(written, goods_);
        std::set<std::uint64_t> differences;
        for (const std::uint64_t now : answers(written, std::span(&other_, 1))) {
            for (const std::uint64_t then : before) {
                if (!before.contains(now)) {
                    differences.insert(now ^ then);
                }
            }
        }
        SiteChange back{Kind::back, change.site, {}, {}, 0, 0};
        for (const auto& [good, number] : goods) {
            const auto is_back = [&, &good = good](const Use::Value& extra) {
                return differences.contains(extra.value ^ good);
            };
            move_if(change.extra, back.extra, is_back) &&
                move_if(change.missing, back.missing,
                        [&, &good = good](const Use::Value& one) { return one.value == good; });
        }
        add(back);
    }

    /// Whether there was one.
    template <typename Is>
    static bool move_if(std::vector<Use::Value>& from, std::vector<Use::Value>& to, const Is& is) {
        const auto moved = std::stable_partition(from.begin(), from.end(),
                                                 [&is](const Use::Value& one) { return !is(one); });
        const bool some = moved != from.end();
        to.insert(to.end(), moved, from.end());
        from.erase(moved, from.end());
        return some;
    }

    void find_bits(SiteChange& change, std::span<const Done* const> goods, const Done& other) {
        std::uint64_t ones = 0, zeros = 0;
        for (const Done* good : goods) {
            ones |= good->ones;
            zeros |= good->zeros;
        }
        change.ones = other.ones & ~ones;
        change.zeros = other.zeros & ~zeros;
        if (change.missing.empty() && change.extra.empty()) {
            change.kind = Kind::bits;
        }
    }

    void add(const SiteChange& change) {
        if (change.missing.empty() && change.extra.empty() && change.ones == 0 &&
            change.zeros == 0) {
            return;
        }
        for (const auto* values : {&change.missing, &change.extra}) {
            for (const Use::Value& value : *values) {
                told_.insert({change.site, false, value.value});
            }
        }
        if (change.kind == Kind::bits) {
            told_sites_.insert(change.site);
        }
        changes_.sites.push_back(change);
    }

    // A register that gave one and the same value in all good boots.
    void compare_answers(std::uint32_t site, std::span<const Done* const> goods,
                         const Done& other) {
        const auto boots = boots_by_value(goods);
        if (goods.size() < enough_for_answers || boots.size() != 1 || goods.front()->data ||
            other.values.contains(boots.begin()->first) || other.values.empty()) {
            return;
        }
        SiteChange change{Kind::answer, site, {goods.front()->values.begin()->second}, {}, 0, 0};
        for (const auto& [value, use] : other.values) {
            change.extra.push_back(use);
        }
        changes_.sites.push_back(change);
    }

    bool is_told(const Write& write) const {
        return told_.contains(write) || told_sites_.contains(write.site);
    }

    /// How often each write was done, but for what tells of interrupts.
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

    // At a site where some value is written another number of times in one good boot, none is
    // compared.
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
            if (other != others.end() && other->second != count && !is_told(write) &&
                !varying.contains(write.site)) {
                changes_.counts.push_back({write, count, other->second});
                told_.insert(write);
            }
        }
    }

    static Followers followers_of(const AlikeBoot& boot) {
        Followers all;
        for (const auto& [first, second] : boot.pairs) {
            all[first].insert(second);
        }
        return all;
    }

    void compare_order() {
        std::vector<Followers> goods;
        std::set<Write> writes;
        for (const AlikeBoot& good : goods_) {
            goods.push_back(followers_of(good));
            for (const auto& [write, followers] : goods.back()) {
                writes.insert(write);
            }
        }
        const Followers others = followers_of(other_);
        for (const auto& [write, followers] : others) {
            writes.insert(write);
        }
        for (const Write& write : writes) {
            const std::set<Write> followers = find(goods.front(), write);
            const bool same = std::all_of(goods.begin(), goods.end(), [&](const Followers& good) {
                return find(good, write) == followers;
            });
            const std::set<Write> now = find(others, write);
            if (same && now != followers && !is_told(write) && is_in_all(write)) {
                add_order(write, followers, now);
            }
        }
    }

    static bool is_in(const AlikeBoot& boot, const Write& write) {
        const Done* const done = find(boot, write.site);
        return done != nullptr && (write.data || done->values.contains(write.value));
    }
    // What only one side has written has no order to compare.
    bool is_in_all(const Write& write) const {
        return std::all_of(alike_.boots.begin(), alike_.boots.end(),
                           [&](const AlikeBoot& boot) { return is_in(boot, write); });
    }

    static std::set<Write> find(const Followers& followers, const Write& write) {
        const auto found = followers.find(write);
        return found == followers.end() ? std::set<Write>() : found->second;
    }

    // Whether all of them are in the function of `write`.
    bool are_near(const Write& write, std::span<const Write> others) const {
        return std::all_of(others.begin(), others.end(), [&](const Write& other) {
            return alike_.sites[other.site].function == alike_.sites[write.site].function;
        });
    }

    // What one function does behind another depends on who calls them: there something must be
    // missing, and something else be in its place. One boot alone shows an order only within a
    // function, and where one write follows each time.
    bool is_certain(const OrderChange& change, std::size_t followers_a,
                    std::size_t followers_b) const {
        const bool near = are_near(change.write, change.a) && are_near(change.write, change.b);
        const bool instead = !change.a.empty() && !change.b.empty();
        return goods_.size() > 1 ? near || instead : near && followers_a == 1 && followers_b == 1;
    }

    // What follows is another because one of them is told of already.
    void add_order(const Write& write, const std::set<Write>& a, const std::set<Write>& b) {
        const auto told = [this](const Write& one) { return is_told(one); };
        if (std::any_of(a.begin(), a.end(), told) || std::any_of(b.begin(), b.end(), told)) {
            return;
        }
        OrderChange change{write, {}, {}};
        std::set_difference(a.begin(), a.end(), b.begin(), b.end(), std::back_inserter(change.a));
        std::set_difference(b.begin(), b.end(), a.begin(), a.end(), std::back_inserter(change.b));
        const auto is_new = [this](const Write& one) { return !is_in_all(one); };
        std::erase_if(change.a, is_new);
        std::erase_if(change.b, is_new);
        if ((!change.a.empty() || !change.b.empty()) && is_certain(change, a.size(), b.size())) {
            changes_.orders.push_back(change);
        }
    }

    const Alike& alike_;
    std::span<const AlikeBoot> goods_;
    const AlikeBoot& other_;
    std::multimap<std::pair<std::string, std::uint64_t>, std::uint32_t> reads_; ///< by register
    Changes changes_;
    std::set<std::uint32_t> matched_; ///< sites that are in other functions, of both
    std::set<Write> told_;
    std::set<std::uint32_t> told_sites_;
};

} // namespace

Changes changes(const Alike& alike) {
    return Comparison(alike).take();
}

} // namespace mmioscope::diff
