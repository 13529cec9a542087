// What is made of an event's names, kept beside the ids that it depends on: most of it is wanted
// again and again. So much is kept, of what was wanted last; `make` fills in what is not there.
#pragma once

#include "mmioscope/event.hpp"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace mmioscope {

/// By Event::context(), which is not 0.
template <typename T, std::size_t size>
class KeptByContext {
public:
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
    std::vector<Slot> slots_{size};
};

/// By place and value.
template <typename T, std::size_t size>
class KeptByValue {
public:
    template <typename Make>
    const T& of(Id place, std::uint64_t value, const Make& make) {
        const std::uint64_t hash = (value ^ std::uint64_t{place} << 32) * 0x9e37'79b9'7f4a'7c15;
        Slot& slot = slots_[(hash >> 40) % size];
        if (slot.place != place || slot.value != value) [[unlikely]] {
            make(slot.of);
            slot.place = place;
            slot.value = value;
        }
        return slot.of;
    }

    /// Ids mean nothing from now on.
    void forget() { slots_ = std::vector<Slot>(size); }

private:
    struct Slot {
        Id place = no_id;
        std::uint64_t value = 0;
        T of;
    };
    std::vector<Slot> slots_{size};
};

} // namespace mmioscope
