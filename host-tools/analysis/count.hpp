// Counts accesses by device, register, function and so on.
#pragma once

#include "mmioscope/event.hpp"
#include "reading/drive.hpp"
#include "reading/kept.hpp"
#include "system/capped_map.hpp"

#include <array>
#include <cstdint>
#include <limits>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace mmioscope::analysis {

enum class Key { device, reg, function, caller, task, cpu, interrupt, size, stack };

/// "device", "register", ...: the words for --by.
std::string_view key_text(Key key);
/// Those of every trace: without stacks.
const std::vector<Key>& all_keys();
/// The functions that had not returned, the first one first, with ; between them, as flame graphs
/// take them; empty: the event has no stack.
std::string folded_stack(const Event& event);

/// The words of all keys.
std::vector<std::string> key_words();

/// Sets `to` to the name under which `event` is counted by `key`.
void set_name(std::string& to, const Event& event, Key key);

/// The accesses counted under one name.
struct Count {
    std::uint64_t reads = 0;
    std::uint64_t writes = 0;
    std::uint64_t least = ~std::uint64_t{0}; ///< of the known values
    std::uint64_t most = 0;
    std::uint64_t first = ~std::uint64_t{0}; ///< ns; without accesses larger than `last`
    std::uint64_t last = 0;
    std::uint64_t duration = 0; ///< ticks, the sum
    std::uint32_t longest = 0;  ///< ticks

    std::uint64_t accesses() const { return reads + writes; }
    bool has_values() const { return least <= most; }
    // Stores only numbers that change, because most do not.
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
    /// Adds the accesses of `other`.
    void add(const Count& other);
};

using CountsByName = CappedNames<Count>;
/// The usual limit for names of one kind.
inline constexpr std::size_t most_names = 384;

class Counts final : public reading::Consumer {
public:
    /// Tells at most `most` names of each of `keys` apart.
    explicit Counts(std::vector<Key> keys,
                    std::size_t most = std::numeric_limits<std::size_t>::max());

    /// Counts accesses; records of interrupts if these are a key, and calls by their stacks.
    void add_all(std::span<const Event> events) override;
    void add(const Event& event) override { add_all(std::span(&event, 1)); }

    void forget() override;

    const std::vector<Key>& keys() const { return keys_; }
    /// The counts by one of the keys.
    const CountsByName& by(Key key);

private:
    /// Accesses that are not in the tables yet: those of one CPU in one context, or in one place if
    /// no key needs more.
    struct Group {
        std::array<Count*, 9> names{}; ///< that it counts for, by Key; null: none
        Count count;
    };
    struct GroupKey {
        static constexpr std::uint64_t none = ~std::uint64_t{0};
        std::uint64_t number = none; ///< of the context or the place
        unsigned cpu = 0;
        bool operator==(const GroupKey&) const = default;
        std::uint64_t hash() const { return number * 2 + cpu; } ///< numbers are consecutive
    };

    template <bool may_vary, typename Number>
    void add_groups(std::span<const Event> events, const Number& number_of);
    void add_other(const Event& event);
    void add_varying(const Event& event);
    void begin(Group& group, const Event& event);
    static void settle(Group& group);
    /// The counts by one of the keys.
    struct Table {
        CountsByName counts;
        std::vector<Count*> by_id; ///< those of names with an id (id_of()); null: not asked
    };
    Count& find(Key key, const Event& event) { return find(tables_.at(key), key, event); }
    Count& find(Table& table, Key key, const Event& event);

    std::vector<Key> keys_;
    bool callers_, interrupts_; ///< are keys
    bool stacks_;
    bool by_place_; ///< place and CPU determine the name for every key
    std::map<Key, Table> tables_;
    std::string name_; ///< kept to avoid an allocation for each event
    reading::KeptByKey<GroupKey, Group, 512> groups_;
};

} // namespace mmioscope::analysis
