// Accesses counted by what they have in common. Memory grows with the number of different things,
// not with that of events.
#pragma once

#include "mmioscope/event.hpp"

#include <algorithm>
#include <cstdint>
#include <functional>
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

using NamedCounts = std::map<std::string, Count, std::less<>>;

class Counts {
public:
    explicit Counts(std::vector<Key> keys);

    /// Accesses; of other records only interrupts, where those are counted.
    void add(std::span<const Event> events);
    void add(const Event& event) { add(std::span(&event, 1)); }

    /// Ids of events mean nothing from now on.
    void forget();

    const std::vector<Key>& keys() const { return keys_; }
    /// What was counted by one of them.
    const NamedCounts& by(Key key);

private:
    /// Accesses of one CPU in one context, or in one place if more is not asked for, which are not
    /// in the tables yet.
    struct Group {
        static constexpr std::uint64_t none = ~std::uint64_t{0};
        std::uint64_t number = none; ///< of the context or the place
        unsigned cpu = 0;
        Event first; ///< its names were asked for
        Count count;
    };

    template <bool may_vary, typename Number>
    void add_groups(std::span<const Event> events, const Number& number_of);
    void begin(Group& group, std::uint64_t number, const Event& event);
    void add_other(const Event& event);
    void add_varying(const Event& event);
    void settle(Group& group);
    Count* find(Key key, const Event& event);

    std::vector<Key> keys_;
    bool callers_, interrupts_; ///< are among them
    bool by_place_;             ///< all of them depend on no more than the place and the CPU
    std::map<Key, NamedCounts> tables_;
    std::string name_; ///< kept, so that an event costs no memory
    std::vector<Group> groups_;
    std::vector<Count*> by_interrupt_; ///< by Event::interrupt_id(); null: not looked up yet
};

} // namespace mmioscope::analysis
