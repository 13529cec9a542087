#include "diff/alike.hpp"

#include <algorithm>
#include <set>
#include <string>
#include <string_view>

namespace mmioscope::diff {

namespace {

constexpr std::size_t most_places = 3;    ///< more: an unrolled loop
constexpr std::size_t least_switched = 5; ///< values; fewer may look like switches by chance

// Compilers append these to the name of a function when they make a variant of it.
void strip_variant(std::string& function) {
    for (const std::string_view end : {".constprop.", ".isra.", ".part.", ".cold"}) {
        const std::size_t at = function.find(end);
        if (at != std::string::npos) {
            const std::size_t rest = function.find(' ', at);
            function.erase(at, rest == std::string::npos ? rest : rest - at);
        }
    }
}

bool same_build(std::span<const Boot* const> boots) {
    return std::all_of(boots.begin(), boots.end(),
                       [&](const Boot* boot) { return boot->build == boots.front()->build; });
}

class Maker {
public:
    Maker(const Sites& sites, std::span<const Boot* const> boots) : sites_(sites), boots_(boots) {
        alike_.builds = same_build(boots) ? Builds::same : Builds::different;
        find_moved();
        count_places();
        number_sites();
        find_data();
        for (const Boot* boot : boots_) {
            alike_.boots.push_back(made_of(*boot));
        }
    }
    Alike take() { return std::move(alike_); }

private:
    using Places = std::set<std::uint32_t>;

    void find_moved() {
        std::map<std::string, Places> before, last;
        for (std::uint32_t i = 0; i < sites_.size(); ++i) {
            const Site& site = sites_[i];
            if (boots_.back()->has(i)) {
                last[site.function].insert(site.place);
            }
            if (std::any_of(boots_.begin(), boots_.end() - 1,
                            [i](const Boot* boot) { return boot->has(i); })) {
                before[site.function].insert(site.place);
            }
        }
        for (const auto& [function, places] : before) {
            const auto other = last.find(function);
            const auto is_there = [&](std::uint32_t place) {
                return other->second.contains(place);
            };
            if (other != last.end() && std::none_of(places.begin(), places.end(), is_there)) {
                moved_.insert(function);
            }
        }
    }

    // The site without its place.
    Site anywhere(const Site& site) const {
        Site other = site;
        other.place = 0;
        return other;
    }

    void count_places() {
        for (std::uint32_t i = 0; i < sites_.size(); ++i) {
            if (!sites_[i].function.empty()) {
                places_[anywhere(sites_[i])].insert(sites_[i].place);
            }
        }
    }

    Site without_needless_place(const Site& site) const {
        Site other = anywhere(site);
        if (alike_.builds == Builds::different) {
            strip_variant(other.function);
            return other;
        }
        const auto places = places_.find(other);
        const bool unrolled = places != places_.end() && places->second.size() > most_places;
        if (site.write && !unrolled && !moved_.contains(site.function)) {
            other.place = site.place;
        }
        return other;
    }

    void number_sites() {
        std::map<Site, std::uint32_t> numbers;
        for (std::uint32_t i = 0; i < sites_.size(); ++i) {
            const Site site = without_needless_place(sites_[i]);
            const auto next = static_cast<std::uint32_t>(numbers.size());
            const auto [at, added] = numbers.try_emplace(site, next);
            if (added) {
                alike_.sites.push_back(site);
                members_.emplace_back();
            }
            members_[at->second].push_back(i);
            numbers_.push_back(at->second);
        }
    }

    void find_data() {
        std::set<std::pair<std::string, std::uint64_t>> registers;
        const auto register_of = [](const Site& site) {
            return std::pair(site.device, site.offset);
        };
        for (std::uint32_t i = 0; i < alike_.sites.size(); ++i) {
            if (alike_.sites[i].write && (is_data(i) || is_switches(i))) {
                registers.insert(register_of(alike_.sites[i]));
            }
        }
        for (const Site& site : alike_.sites) {
            data_.push_back(site.write && registers.contains(register_of(site)));
        }
    }

    // One boot is enough to show it.
    bool is_data(std::uint32_t number) const {
        return std::any_of(boots_.begin(), boots_.end(), [&](const Boot* boot) {
            std::set<std::uint64_t> values;
            for (const std::uint32_t i : members_[number]) {
                if (boot->has(i)) {
                    for (const Use::Value& value : boot->uses[i].values) {
                        values.insert(value.value);
                    }
                    if (boot->uses[i].many) {
                        return true;
                    }
                }
            }
            return values.size() > Use::most_values;
        });
    }

    // No boot may contradict it.
    bool is_switches(std::uint32_t number) const {
        bool several = false;
        for (const Boot* boot : boots_) {
            for (const std::uint32_t i : members_[number]) {
                if (boot->has(i)) {
                    several = several || boot->uses[i].values.size() >= least_switched;
                    if (!boot->uses[i].one_bit) {
                        return false;
                    }
                }
            }
        }
        return several;
    }

    AlikeBoot made_of(const Boot& boot) {
        AlikeBoot made;
        for (std::uint32_t i = 0; i < boot.uses.size(); ++i) {
            if (boot.uses[i].unkept != 0) {
                const Site& site = sites_[i];
                alike_.unkept[{site.device, site.offset}] |= boot.uses[i].unkept;
            }
            if (boot.uses[i].count > 0) {
                add(made.done[numbers_[i]], boot.uses[i], data_[numbers_[i]]);
            }
        }
        for (const auto& [pair, count] : boot.pairs) {
            const Write first = write_of(boot, pair.first);
            const Write second = write_of(boot, pair.second);
            if (first != second) {
                made.pairs[{first, second}] += count;
            }
        }
        for (const auto& [kind, burst] : boot.bursts) {
            if (data_[numbers_[kind.first]]) {
                add(made.bursts[{numbers_[kind.first], kind.second}], burst);
            }
        }
        return made;
    }

    std::uint32_t number_of(std::uint32_t site) const {
        return site == Sites::none ? site : numbers_[site];
    }

    void add(Done& to, const Use& use, bool data) const {
        if (to.count == 0 || use.first < to.first) {
            to.first = use.first;
            to.behind = number_of(use.behind);
        }
        to.count += use.count;
        to.data = data || use.many;
        to.ones |= use.ones;
        to.zeros |= use.zeros;
        for (const Use::Value& value : use.values) {
            Use::Value& sum =
                to.values
                    .try_emplace(value.value,
                                 Use::Value{value.value, 0, value.first, Sites::none, {}})
                    .first->second;
            sum.count += value.count;
            if (value.first <= sum.first) {
                sum.first = value.first;
                sum.behind = number_of(value.behind);
                sum.read = value.read;
            }
        }
    }

    void add(Burst& to, const Burst& burst) const {
        to.first = to.count == 0 ? burst.first : std::min(to.first, burst.first);
        to.count += burst.count;
        to.words.resize(burst.words.size());
        for (std::size_t i = 0; i < burst.words.size(); ++i) {
            to.words[i].site = numbers_[burst.words[i].site];
            to.words[i].ones |= burst.words[i].ones;
            to.words[i].zeros |= burst.words[i].zeros;
        }
    }

    Write write_of(const Boot& boot, Token token) const {
        const std::uint32_t site = numbers_[token.site];
        if (data_[site] || token.value == Token::any) {
            return {site, true, 0};
        }
        return {site, false, boot.uses[token.site].values[token.value].value};
    }

    const Sites& sites_;
    std::span<const Boot* const> boots_;
    Alike alike_;
    std::set<std::string> moved_;                     ///< functions
    std::map<Site, Places> places_;                   ///< of each site without its place
    std::vector<std::uint32_t> numbers_;              ///< in alike_, by the number in sites_
    std::vector<std::vector<std::uint32_t>> members_; ///< numbers in sites_, by the one in alike_
    std::vector<bool> data_;                          ///< by the number in alike_
};

} // namespace

Alike alike(const Sites& sites, std::span<const Boot* const> boots) {
    return Maker(sites, boots).take();
}

} // namespace mmioscope::diff
