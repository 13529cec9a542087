#include "registers/device_registers.hpp"

#include <tuple>

namespace mmioscope::registers {

namespace {

/// So much is kept of what was looked for: a trace may ask for any number of places.
constexpr std::size_t most_kept = 1u << 20;

} // namespace

void DeviceRegisters::bind(std::span<const Device> devices) {
    devices_.clear();
    cache_.clear();
    for (const Device& device : devices) {
        Bound bound;
        bound.description = book_.find(device.compatible, device.reg_index, device.range.base);
        if (bound.description != nullptr) {
            for (const Entry& entry : bound.description->entries) {
                if (entry.when) {
                    bound.watched[entry.when->offset] = 0;
                }
            }
        }
        devices_.push_back(std::move(bound));
    }
}

const Register* DeviceRegisters::find(const abi::Record& record, std::uint64_t offset) {
    if (record.device >= devices_.size() || devices_[record.device].description == nullptr) {
        return nullptr;
    }
    Bound& bound = devices_[record.device];
    const bool write = abi::is_write(record);
    const unsigned size = abi::access_size(record);
    if (!bound.watched.empty()) {
        const Register* found = look_up(bound, offset, size, write);
        const auto watched = bound.watched.find(offset);
        const bool known = (record.flags & abi::flag_value_unknown) == 0;
        if (known && watched != bound.watched.end() && record.type == abi::RecordType::access) {
            watched->second = record.value;
        }
        return found;
    }
    const std::uint64_t key =
        offset << 24 | std::uint64_t{record.device} << 8 | size << 1 | (write ? 1u : 0u);
    if (cache_.size() >= most_kept) {
        cache_.clear(); // the registers stay
    }
    const auto [found, fresh] = cache_.try_emplace(key, nullptr);
    if (fresh) {
        found->second = look_up(bound, offset, size, write);
    }
    return found->second;
}

const Description* DeviceRegisters::description(std::uint16_t device) const {
    return device < devices_.size() ? devices_[device].description : nullptr;
}

// Of those that hold the first byte: one for this direction, if there is any; one whose condition
// is true; then one that holds the whole access; then the smallest.
const Register* DeviceRegisters::look_up(const Bound& bound, std::uint64_t offset, unsigned size,
                                         bool write) {
    const Entry* best = nullptr;
    std::uint64_t best_start = 0;
    std::tuple<bool, bool, bool, unsigned> best_rank;
    for (const Entry& entry : bound.description->entries) {
        if (entry.when && !holds(bound, *entry.when)) {
            continue;
        }
        const auto start = start_of(entry, offset);
        if (!start) {
            continue;
        }
        const bool whole = offset + size <= *start + entry.first.size;
        const std::tuple<bool, bool, bool, unsigned> rank(!allows(entry.direction, write),
                                                          !entry.when, !whole, entry.first.size);
        if (best == nullptr || rank < best_rank) {
            best = &entry;
            best_start = *start;
            best_rank = rank;
        }
    }
    return best == nullptr ? nullptr : made(*best, best_start);
}

bool DeviceRegisters::holds(const Bound& bound, const Condition& condition) const {
    const auto watched = bound.watched.find(condition.offset);
    const std::uint64_t mask =
        condition.width >= 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << condition.width) - 1;
    return watched != bound.watched.end() &&
           (watched->second >> condition.low & mask) == condition.value;
}

const Register* DeviceRegisters::made(const Entry& entry, std::uint64_t start) {
    const auto [found, fresh] = made_.try_emplace({&entry, start});
    if (fresh) {
        found->second = instance(entry, start);
    }
    return &found->second;
}

} // namespace mmioscope::registers
