#include "diff/changes.hpp"

#include "registers/interrupt_names.hpp"

#include <algorithm>
#include <map>
#include <string>
#include <tuple>

namespace mmioscope::diff {

namespace {

// This many good boots are enough to expect the same answer from a register.
constexpr std::size_t enough_for_answers = 3;

class SiteComparison {
public:
    SiteComparison(const Alike& alike, Told& told)
        : alike_(alike), goods_(alike.goods()), other_(alike.other()), told_(told) {}

    std::vector<SiteChange> take() {
        if (alike_.builds == Builds::different) {
            match_functions();
        }
        for (std::uint32_t site = 0; site < alike_.sites.size(); ++site) {
            if (!matched_.contains(site)) {
                compare_site(site);
            }
        }
        return std::move(changes_);
    }

private:
    using Kind = SiteChange::Kind;

    /// What the good boots did there; boots without the site are left out.
    std::vector<const Done*> all_good(std::uint32_t site) const {
        std::vector<const Done*> all;
        for (const AlikeBoot& boot : goods_) {
            if (const Done* const done = boot.find(site)) {
                all.push_back(done);
            }
        }
        return all;
    }

    // In another build, a different function may contain the access: for example, the one that the
    // first was inlined into.
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
            if (goods.size() == goods_.size() && other_.find(site) == nullptr &&
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
        const Done* const other = other_.find(site);
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
        changes_.push_back(change);
        told_.sites.insert(site);
    }

    /// The number of boots with each value.
    static std::map<std::uint64_t, std::size_t> boots_by_value(std::span<const Done* const> goods) {
        std::map<std::uint64_t, std::size_t> boots;
        for (const Done* good : goods) {
            for (const auto& value : good->values) {
                ++boots[value.first];
            }
        }
        return boots;
    }

    // Compares only interrupts of devices, because the scheduler decides about the others.
    bool is_compared(const Site& site, std::uint64_t value) const {
        return !site.interrupt ||
               (site.reg != sends_interrupt &&
                registers::interrupt_of(value) >= registers::first_shared_interrupt);
    }

    void compare_values(std::uint32_t site, std::span<const Done* const> goods, const Done& other) {
        const auto boots = boots_by_value(goods);
        const bool data = other.data || std::any_of(goods.begin(), goods.end(),
                                                    [](const Done* good) { return good->data; });
        // Where one good boot has a value that no other has, the next boot may have a new one, too.
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
        take_written_back(change, goods, other);
        add(change);
    }

    std::uint64_t unkept(std::uint32_t site) const {
        const Site& of = alike_.sites[site];
        const auto found = alike_.unkept.find({of.device, of.offset});
        return found == alike_.unkept.end() ? 0 : found->second;
    }

    /// Whether both write back what the thread had read with the same bits set and cleared. To set
    /// a bit that the register does not keep is a command.
    static bool makes_same_change(const Use::Value& one, const Use::Value& other,
                                  std::uint64_t unkept) {
        if (!one.read || !other.read) {
            return false;
        }
        const std::uint64_t bits = *one.read ^ one.value;
        return bits == (*other.read ^ other.value) && (one.value & bits) == (other.value & bits) &&
               (one.value & bits & unkept) == 0;
    }
    static bool makes_same_change(const Use::Value& one, const Done& in, std::uint64_t unkept) {
        return std::any_of(in.values.begin(), in.values.end(),
                           [&](auto& of) { return makes_same_change(one, of.second, unkept); });
    }

    // A driver reads a register, changes some bits, and writes the value back. If it changes the
    // same bits on both sides, the difference comes from the device, or from who wrote before.
    void take_written_back(SiteChange& change, std::span<const Done* const> goods,
                           const Done& other) {
        SiteChange back{Kind::back, change.site, {}, {}, 0, 0};
        const std::uint64_t unkept = this->unkept(change.site);
        move_if(change.missing, back.missing,
                [&](const Use::Value& one) { return makes_same_change(one, other, unkept); });
        move_if(change.extra, back.extra, [&](const Use::Value& one) {
            return std::any_of(goods.begin(), goods.end(), [&](const Done* good) {
                return makes_same_change(one, *good, unkept);
            });
        });
        add(back);
    }

    template <typename Is>
    static void move_if(std::vector<Use::Value>& from, std::vector<Use::Value>& to, const Is& is) {
        const auto moved = std::stable_partition(from.begin(), from.end(),
                                                 [&is](const Use::Value& one) { return !is(one); });
        to.insert(to.end(), moved, from.end());
        from.erase(moved, from.end());
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
                told_.writes.insert({change.site, false, value.value});
            }
        }
        if (change.kind == Kind::bits) {
            told_.sites.insert(change.site);
        }
        changes_.push_back(change);
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
        changes_.push_back(change);
    }

    const Alike& alike_;
    std::span<const AlikeBoot> goods_;
    const AlikeBoot& other_;
    Told& told_;
    std::vector<SiteChange> changes_;
    std::set<std::uint32_t> matched_; ///< of both sides: the function differs, the access does not
};

} // namespace

std::vector<SiteChange> site_changes(const Alike& alike, Told& told) {
    return SiteComparison(alike, told).take();
}

} // namespace mmioscope::diff
