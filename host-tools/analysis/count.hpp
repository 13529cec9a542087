// Counts accesses by device, register, function and so on.
#pragma once

#include "mmioscope/event.hpp"
#include "reading/kept.hpp"
#include "system/spilled_map.hpp"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace mmioscope::analysis {

enum class Key { device, reg, function, caller, task, cpu, interrupt, size };

/// "device", "register", ...: what --by takes.
std::string_view key_text(Key key);
const std::vector<Key>& all_keys();

/// The words of all keys.
std::vector<std::string> key_words();

/// `to` becomes what `event` is counted under by `key`.
void set_name(std::string& to, const Event& event, Key key);

/// What was done to one thing.
struct Count {
    std::uint64_t reads = 0;
    std::uint64_t writes = 0;
    std::uint64_t least = ~std::uint64_t{0}; ///< value, of those that are known
    std::uint64_t most = 0;
    std::uint64_t first = ~std::uint64_t{0}; ///< ns; of none more than `last`
    std::uint64_t last = 0;
    std::uint64_t duration = 0; ///< ticks, of all together
    std::uint32_t longest = 0;  ///< ticks

    std::uint64_t accesses() const { return reads + writes; }
    bool has_values() const { return least <= most; }
    // A number is stored where it is another one: that is rare, or in the order of time.
    void add(const Event& event) {
        const abi::Record& record = event.record;
        if (event.nanoseconds < first) {
            first = event.nanoseconds;
        }
        if (event.nanoseconds > last) {
            last = event.nanoseconds;
        }
        ++(abi::is_write(record) ? writes : reads);
        duration += record.duration;
        if (record.duration > longest) {
            longest = record.duration;
        }
        if ((record.flags & abi::flag_value_unknown) == 0) {
            if (record.value < least) {
                least = record.value;
            }
            if (record.value > most) {
                most = record.value;
            }
        }
    }
    /// `other` was done to it, too.
    void add(const Count& other);
};

using CountsByName = SpilledMap<Count>;
/// So many names of a kind are held where there may be any number of them.
inline constexpr std::size_t most_names = 512;
using NamedCounts = CountsByName::Held;

class Counts {
public:
    /// For each of `keys` so many names are in memory at most, the others in temporary files.
    explicit Counts(std::vector<Key> keys,
                    std::size_t most = std::numeric_limits<std::size_t>::max());

    /// Accesses; of other records only interrupts, where those are counted.
    void add(std::span<const Event> events);
    void add(const Event& event) { add(std::span(&event, 1)); }

    /// Ids of events mean nothing from now on.
    void forget();

    const std::vector<Key>& keys() const { return keys_; }
    /// What was counted by one of them.
    CountsByName& by(Key key);

private:
    /// Accesses of one CPU in one context, or in one place if more is not asked for, which are not
    /// in the tables yet.
    struct Group {
        Event first; ///< its names were asked for
        Count count;
    };
    struct GroupKey {
        static constexpr std::uint64_t none = ~std::uint64_t{0};
        std::uint64_t number = none; ///< of the context or the place
        unsigned cpu = 0;
        bool operator==(const GroupKey&) const = default;
        std::uint64_t hash() const { return number * 2 + cpu; } ///< numbers are given one by one
    };

    template <bool may_vary, typename Number>
    void add_groups(std::span<const Event> events, const Number& number_of);
    void add_other(const Event& event);
    void add_varying(const Event& event);
    void settle(Group& group);
    CountsByName& table(Key key);
    Count* find(Key key, const Event& event);

    std::vector<Key> keys_;
    std::size_t most_;          ///< names of each that are held
    bool callers_, interrupts_; ///< are among them
    bool by_place_;             ///< all of them depend on no more than the place and the CPU
    std::map<Key, CountsByName> tables_;
    std::string name_; ///< kept, so that an event costs no memory
    reading::KeptByKey<GroupKey, Group, 1024> groups_;
    std::vector<Count*> by_interrupt_; ///< by Event::interrupt_id(); null: not looked up yet
};

} // namespace mmioscope::analysis
