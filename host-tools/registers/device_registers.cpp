#include "registers/device_registers.hpp"

#include "registers/fields_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <tuple>

namespace mmioscope::registers {

namespace {

bool fits(const Condition& condition, std::uint64_t value) {
    const std::uint64_t mask =
        condition.width >= 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << condition.width) - 1;
    return (value >> condition.low & mask) == condition.value;
}

/// `value` is that of their register.
bool all_fit(const std::vector<Condition>& conditions, std::uint64_t value) {
    return std::ranges::all_of(conditions, [value](const auto& one) { return fits(one, value); });
}

} // namespace

void DeviceRegisters::bind(std::span<const Device> devices) {
    devices_.clear();
    watches_any_.reset();
    for (const Device& device : devices) {
        Bound bound;
        bound.compatible = device.compatible;
        bound.reg_index = device.reg_index;
        bound.range = device.range;
        devices_.push_back(std::move(bound));
    }
}

bool DeviceRegisters::watches_any() {
    if (!watches_any_) {
        watches_any_ = false;
        for (std::size_t device = 0; device < devices_.size(); ++device) {
            const Bound& bound = devices_[device];
            watches_any_ =
                *watches_any_ ||
                (book_.may_have_conditions(bound.compatible, bound.reg_index, bound.range) &&
                 watches(static_cast<std::uint16_t>(device)));
        }
    }
    return *watches_any_;
}

bool DeviceRegisters::observe(const abi::Record& record, std::uint64_t offset) {
    Bound& bound = devices_[record.device];
    const auto watched = bound.watched.find(offset);
    if (watched == bound.watched.end() || record.type != abi::RecordType::access) {
        return true;
    }
    const bool known = (record.flags & abi::flag_value_unknown) == 0;
    for (const Entry& entry : (*bound.description)->entries) {
        const bool lost = // an unknown value, or another command, which may load the data register
            !entry.before.empty() &&
            (entry.first.offset == offset ? !known
                                          : entry.when->offset == offset && abi::is_write(record) &&
                                                !(known && all_fit(entry.before, record.value)));
        if (lost) {
            bound.watched[entry.first.offset].reset();
        }
    }
    if (!known) {
        return true;
    }
    watched->second = record.value;
    return number(bound);
}

std::string DeviceRegisters::carried_out(const abi::Record& record, std::uint64_t offset) {
    const Bound& bound = devices_[record.device];
    if (!bound.watched.contains(offset) || record.type != abi::RecordType::access ||
        !abi::is_write(record) || (record.flags & abi::flag_value_unknown) != 0) {
        return "";
    }
    for (const Entry& entry : (*bound.description)->entries) {
        const Register& reg = entry.first;
        if (!entry.before.empty() && entry.when->offset == offset &&
            fits(*entry.when, record.value) && all_fit(entry.before, record.value)) {
            const std::optional<std::uint64_t> value = bound.watched.at(reg.offset);
            const std::string fields = value ? fields_text(reg, *value, reg.size, 0) : "";
            return !value ? ""
                          : fmt::format("{} {:#0{}x}{}{}", reg.name, *value, 2 * reg.size + 2,
                                        fields.empty() ? "" : " ", fields);
        }
    }
    return "";
}

DeviceRegisters::Held DeviceRegisters::held() const {
    Held held;
    for (std::size_t i = 0; i < devices_.size(); ++i) {
        if (!devices_[i].watched.empty()) {
            held[static_cast<std::uint16_t>(i)] = devices_[i].watched;
        }
    }
    return held;
}

void DeviceRegisters::hold(const Held& held) {
    for (std::size_t i = 0; i < devices_.size(); ++i) {
        Bound& bound = devices_[i];
        const auto values = held.find(static_cast<std::uint16_t>(i));
        if (values != held.end()) {
            description(values->first);
            bound.watched = values->second;
        } else {
            for (auto& [offset, value] : bound.watched) {
                value.reset();
            }
        }
        if (bound.description) {
            number(bound);
        }
    }
}

// A description may have any number of conditions, but drivers change only a few.
bool DeviceRegisters::number(Bound& bound) const {
    std::vector<bool> held;
    if (*bound.description != nullptr) {
        for (const Entry& entry : (*bound.description)->entries) {
            if (entry.when) {
                held.push_back(holds(bound, *entry.when));
            }
        }
    }
    const auto known = std::find(bound.variants.begin(), bound.variants.end(), held);
    const bool room = known != bound.variants.end() || bound.variants.size() < most_variants;
    if (!room) {
        bound.variants.clear();
    }
    bound.variant =
        static_cast<unsigned>(room ? known - bound.variants.begin() : std::ptrdiff_t{0});
    if (bound.variant == bound.variants.size()) {
        bound.variants.push_back(std::move(held));
    }
    return room;
}

const Description* DeviceRegisters::description(std::uint16_t device) {
    if (device >= devices_.size()) {
        return nullptr;
    }
    Bound& bound = devices_[device];
    if (!bound.description) {
        bound.description = book_.find(bound.compatible, bound.reg_index, bound.range);
        if (*bound.description != nullptr) {
            for (const Entry& entry : (*bound.description)->entries) {
                if (entry.when) {
                    bound.watched.try_emplace(entry.when->offset);
                }
                if (!entry.before.empty()) {
                    bound.watched.try_emplace(entry.first.offset);
                }
            }
        }
        number(bound);
    }
    return *bound.description;
}

// Among those with the first byte, prefers one for this direction, then one whose condition is
// true, then one that contains the whole access, then the smallest.
const Register* DeviceRegisters::find(std::uint16_t device, std::uint64_t offset, unsigned size,
                                      bool write) {
    if (description(device) == nullptr) {
        return nullptr;
    }
    const Bound& bound = devices_[device];
    const Entry* best = nullptr;
    std::uint64_t best_start = 0;
    std::tuple<bool, bool, bool, unsigned> best_rank;
    for (const Entry& entry : (*bound.description)->entries) {
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
    return watched != bound.watched.end() && fits(condition, watched->second.value_or(0));
}

const Register* DeviceRegisters::made(const Entry& entry, std::uint64_t start) {
    const auto [found, fresh] = made_.try_emplace({&entry, start});
    if (fresh) {
        found->second = instance(entry, start);
    }
    return &found->second;
}

namespace {

/// Adds the registers of `entry` that begin in the device, which begins `distance` bytes behind the
/// peripheral. Of an array, or of the outermost of nested ones, it may have only the last elements.
void add_behind(Entry entry, std::uint64_t distance, std::vector<Entry>& to) {
    if (entry.first.offset < distance && !entry.series.empty()) {
        Series& array = *std::ranges::max_element(entry.series, {}, &Series::step);
        const std::uint64_t before = distance - entry.first.offset;
        const std::uint64_t skipped =
            array.step == 0 ? array.count
                            : std::min((before + array.step - 1) / array.step, array.count);
        const auto labels = std::min<std::uint64_t>(skipped, array.labels.size());
        array.labels.erase(array.labels.begin(),
                           array.labels.begin() + static_cast<std::ptrdiff_t>(labels));
        array.first += skipped;
        array.count -= skipped;
        entry.first.offset += skipped * array.step;
        if (array.count == 0) {
            return;
        }
    }
    if (entry.first.offset >= distance) {
        entry.first.offset -= distance;
        to.push_back(std::move(entry));
    }
}

void put_in_front(Entry& entry, const std::string& name) {
    std::string& first = entry.series.empty() ? entry.first.name : entry.series.front().prefix;
    first.insert(0, name + "_");
}

} // namespace

bool reaches(const Description& one, const tree::AddressRange& range) {
    if (one.address >= range.base + range.size) {
        return false;
    }
    return std::ranges::any_of(one.entries, [&](const Entry& entry) {
        const std::uint64_t at = one.address + entry.first.offset;
        return at < range.base + range.size && at + extent(entry) > range.base;
    });
}

Description placed(std::span<const Description* const> peripherals,
                   const tree::AddressRange& range) {
    Description made;
    made.name = peripherals.front()->name;
    made.title = peripherals.front()->title;
    made.where = peripherals.front()->where;
    const bool several = std::ranges::any_of(peripherals, [&](const Description* one) {
        return one->address != peripherals.front()->address;
    });
    for (const Description* one : peripherals) {
        for (Entry entry : one->entries) {
            if (several) {
                put_in_front(entry, one->name);
            }
            if (one->address >= range.base) {
                entry.first.offset += one->address - range.base;
                made.entries.push_back(std::move(entry));
            } else {
                add_behind(std::move(entry), range.base - one->address, made.entries);
            }
        }
    }
    return made;
}

} // namespace mmioscope::registers
