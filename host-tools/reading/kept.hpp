// What is made of an event's names, kept beside the ids that it depends on: most of it is wanted
// again and again.
#pragma once

#include "mmioscope/event.hpp"

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace mmioscope::reading {

/// When a text is kept.
enum class Keep {
    at_once,    ///< as most are wanted again
    when_again, ///< when it is wanted a second time: a trace in which nothing comes again takes no
                ///< memory
};

/// Texts of so many keys at most, each in a slot of its own.
template <typename Key, typename T, std::size_t size, Keep keep = Keep::at_once>
class Kept {
public:
    /// Without memory, if nobody will ask.
    explicit Kept(bool used = true) : slots_(used ? size : 0) {
        kept_.reserve(slots_.size()); // pages are taken when they are filled
    }

    /// What `make` made of `key`, which is not Key() and spreads well with hash(). It holds until
    /// the next one is wanted.
    template <typename Make>
    T& of(const Key& key, const Make& make) {
        Slot& slot = slots_[key.hash() % size];
        if (slot.key == key) [[likely]] {
            return *slot.of;
        }
        return of_another(slot, key, make);
    }

    /// Ids mean nothing from now on.
    void forget() {
        for (Slot& slot : slots_) {
            slot.key = slot.last = Key();
        }
    }

private:
    struct Slot {
        Key key;         ///< what `of` was made of
        T* of = nullptr; ///< in kept_
        Key last;        ///< what was wanted last, and is not kept
    };

    template <typename Make>
    T& of_another(Slot& slot, const Key& key, const Make& make) {
        if (keep == Keep::when_again && !(std::exchange(slot.last, key) == key)) {
            make(once_);
            return once_;
        }
        if (slot.of == nullptr) {
            slot.of = &kept_.emplace_back();
        }
        make(*slot.of);
        slot.key = key;
        return *slot.of;
    }

    std::vector<Slot> slots_;
    std::vector<T> kept_; ///< never more than was reserved: they stay where they are
    T once_;
};

/// Knuth's multiplicative hash, whose upper bits are the good ones.
constexpr std::uint64_t mixed(std::uint64_t key) {
    return key * 0x9e37'79b9'7f4a'7c15;
}

/// Event::context(), which is not 0.
struct Context {
    std::uint64_t number = 0;
    bool operator==(const Context&) const = default;
    std::uint64_t hash() const { return number; }
};

/// What a value says depends on.
struct PlaceAndValue {
    Id place = no_id;
    std::uint64_t value = 0;
    bool operator==(const PlaceAndValue&) const = default;
    std::uint64_t hash() const { return mixed(value ^ std::uint64_t{place} << 32) >> 40; }
};

} // namespace mmioscope::reading
