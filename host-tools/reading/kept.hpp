// A cache of what is made from an event's names, keyed by ids, because most of it is needed again.
// Keeps a limited number of recent entries; `make` fills in a missing one.
#pragma once

#include "mmioscope/event.hpp"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace mmioscope::reading {

/// Keyed by Event::context(), which must not be 0.
template <typename T, std::size_t size>
class KeptByContext {
public:
    /// Allocates nothing if it is not `used`.
    explicit KeptByContext(bool used = true) : slots_(used ? size : 0) {}

    template <typename Make>
    T& of(std::uint64_t context, const Make& make) {
        Slot& slot = slots_[context % size];
        if (slot.context != context) [[unlikely]] {
            make(slot.of);
            slot.context = context;
        }
        return slot.of;
    }

private:
    struct Slot {
        std::uint64_t context = 0;
        T of;
    };
    std::vector<Slot> slots_;
};

/// Has its own type of key, which must not equal Key() and must have a good hash(). The oldest
/// entry is replaced first.
template <typename Key, typename T, std::size_t size>
class KeptByKey {
public:
    /// Allocates nothing if it is not `used`.
    explicit KeptByKey(bool used = true) : places_(used ? places : 0) {
        if (used) {
            slots_.reserve(size);
            slots_.emplace_back();
        }
    }

    template <typename Make>
    T& of(const Key& key, const Make& make) {
        std::uint16_t& place = places_[key.hash() % places];
        if (!(slots_[place].key == key)) [[unlikely]] {
            place = next();
            make(slots_[place].of);
            slots_[place].key = key;
        }
        return slots_[place].of;
    }

    /// Ids become invalid.
    void forget() {
        for (Slot& slot : slots_) {
            slot.key = Key();
        }
    }

    /// Likewise, and calls `last` with each slot, used or not.
    template <typename Last>
    void forget(const Last& last) {
        for (Slot& slot : slots_) {
            last(slot.of);
        }
        forget();
    }

private:
    struct Slot {
        Key key;
        T of;
    };
    static constexpr std::size_t places = 4 * size; ///< to keep collisions rare
    static_assert(size <= UINT16_MAX);

    std::uint16_t next() {
        next_ = (next_ + 1) % size;
        if (next_ == slots_.size()) {
            slots_.emplace_back();
        }
        return static_cast<std::uint16_t>(next_);
    }

    std::vector<Slot> slots_;
    std::vector<std::uint16_t> places_; ///< in slots_
    std::size_t next_ = 0;              ///< the slot filled last
};

/// Knuth's multiplicative hash; its upper bits are the good ones.
constexpr std::uint64_t mixed(std::uint64_t key) {
    return key * 0x9e37'79b9'7f4a'7c15;
}

/// What the meaning of a value depends on.
struct PlaceAndValue {
    Id place = no_id;
    std::uint64_t value = 0;
    bool operator==(const PlaceAndValue&) const = default;
    std::uint64_t hash() const { return mixed(value ^ std::uint64_t{place} << 32) >> 40; }
};

} // namespace mmioscope::reading
