#include "analysis/register_classes.hpp"

#include "registers/fields_text.hpp"
#include "system/capped_map.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <optional>
#include <utility>

namespace mmioscope::analysis {

// Accesses to parts of a register belong to it; without a description, to the word they are in.
std::uint64_t RegisterClasses::offset_of(const Event& event) {
    return event.reg() != nullptr ? event.reg()->offset
                                  : event.offset() & ~std::uint64_t{sizeof(std::uint32_t) - 1};
}

bool RegisterClasses::carries_data(const Event& event) const {
    const auto at = registers_.find({event.record.device, offset_of(event)});
    if (at == registers_.end()) {
        return false;
    }
    const RegisterEvidence& e = at->second.evidence;
    const std::string_view name = verdict_of(e).name;
    return name == "fifo" || (name == "counter" && e.stayed + e.fell == 0);
}

RegisterHistory* RegisterClasses::of(const Event& event) {
    const std::uint64_t offset = offset_of(event);
    const auto at = registers_.find({event.record.device, offset});
    if (at != registers_.end()) {
        return &at->second;
    }
    if (registers_.size() == most_) {
        ++left_out_;
        return nullptr;
    }
    RegisterHistory& one = registers_[{event.record.device, offset}];
    one.device = event.device();
    one.name = registers::register_text(event.reg(), offset);
    one.offset = offset;
    return &one;
}

void RegisterClasses::add(const Event& event) {
    const abi::Record& record = event.record;
    if (record.type == abi::RecordType::gap || record.type == abi::RecordType::power) {
        now_.since = now_.access; // what was not seen, or a reset, may have changed any register
        devices_.clear();
        return;
    }
    if (record.type != abi::RecordType::access && record.type != abi::RecordType::own) {
        return;
    }
    RegisterHistory* const one = of(event);
    if (one == nullptr) {
        return;
    }
    Device& device = devices_[record.device];
    ++now_.access;
    now_.nanoseconds = event.nanoseconds;
    const bool writes = abi::is_write(record);
    RegisterEvidence& e = one->evidence;
    if (record.type == abi::RecordType::access) {
        ++(writes ? e.writes : e.reads);
    }
    // A part of a register says nothing of the rest, and what is wider than a word is not followed.
    const bool counts =
        record.type == abi::RecordType::access && (record.flags & abi::flag_value_unknown) == 0 &&
        event.offset() == one->offset && abi::access_size(record) <= sizeof(std::uint32_t) &&
        record.cpu < RegisterHistory::most_cpus;
    const auto value = static_cast<std::uint32_t>(record.value);
    const bool echoes = device.read != nullptr && device.read->showed(record.cpu, value);
    const bool next = !writes && device.read == one; // directly after another read of it
    e.drained += next || (!writes && device.read_before == one) ? 1 : 0;
    if (writes) {
        device.read = device.read_before = nullptr;
    } else if (!next) {
        device.read_before = std::exchange(device.read, one);
    }
    if (!counts) {
        one->forget();
        device.written = writes ? decltype(device.written)() : device.written;
    } else if (writes) {
        e.streamed += device.written[0] == one && !echoes ? 1 : 0;
        one->write(record.cpu, value, now_);
        for (RegisterHistory* other : device.written) {
            if (other != nullptr && other != one) {
                other->contest(value);
            }
        }
        if (device.written[0] != one) {
            std::shift_right(device.written.begin(), device.written.end(), 1);
            device.written[0] = one;
        }
    } else {
        one->read(record.cpu, value, now_, device.written[0], next);
    }
}

RegisterClasses::Indices RegisterClasses::indices() const {
    Indices all;
    for (const auto& [place, one] : registers_) {
        if (verdict_of(one.evidence).name == "data") {
            all[one.chooser] = &one;
        }
    }
    return all;
}

Verdict RegisterClasses::class_of(const RegisterHistory& one, const Indices& indices) {
    Verdict verdict = verdict_of(one.evidence);
    const std::string_view name = verdict.name;
    const auto says = [](const RegisterHistory* other, std::string_view what) {
        return other != nullptr && verdict_of(other->evidence).name == what;
    };
    if (const auto data = indices.find(&one); data != indices.end() && name != "fifo") {
        return {"index", fmt::format("chooses what {} shows", data->second->name)};
    }
    if (!verdict.claims() && says(one.changes, "status") &&
        commands(one.evidence, one.changes->evidence)) {
        const RegisterEvidence& e = one.evidence;
        return {"command",
                fmt::format("{} of {} times that {} was polled after a write here, its "
                            "bits {:#x} changed",
                            e.late, e.waited, one.changes->name, e.late_up | e.late_down)};
    }
    if (name == "data") {
        verdict.evidence += fmt::format(": {}", one.chooser->name);
    } else if (name == "clear") {
        verdict.evidence += fmt::format(": {}", one.clears->name);
    } else if (name == "set" && one.sets != nullptr && one.evidence.reads == 0) {
        verdict.evidence += fmt::format(": {}", one.sets->name);
    }
    if (says(one.cleared_by, "clear")) {
        verdict.evidence += fmt::format("; cleared by {}", one.cleared_by->name);
    }
    return verdict;
}

std::string RegisterClasses::description(std::span<const registers::Device> devices) const {
    std::string text;
    const Indices choosers = indices();
    std::optional<std::uint16_t> region;
    for (const auto& [place, one] : registers_) {
        if (one.evidence.reads + one.evidence.writes == 0) {
            continue;
        }
        if (region != place.first) {
            region = place.first;
            const std::string name = one.device.substr(0, one.device.find_first_of("@["));
            text += fmt::format("{}device {} : by its accesses\n", text.empty() ? "" : "\n", name);
            if (*region < devices.size()) {
                const registers::Device& device = devices[*region];
                text += device.compatible.empty()
                            ? ""
                            : fmt::format("compatible {}\n", fmt::join(device.compatible, " "));
                text += device.reg_index == 0 ? "" : fmt::format("reg {}\n", device.reg_index);
            }
        }
        const Verdict verdict = class_of(one, choosers);
        const bool named = one.name.find_first_of("+[]{} :") == one.name.npos;
        text += fmt::format("{:#05x} {} : {}; {}\n", one.offset,
                            named ? one.name : fmt::format("R{:03x}", one.offset), verdict.name,
                            verdict.evidence);
    }
    return text;
}

table::Table RegisterClasses::table() const {
    using enum table::Look;
    table::Table table{{{"device", "device"},
                        {"offset", "offset", number, 6},
                        {"register", "register"},
                        {"reads", "reads", number, 8},
                        {"writes", "writes", number, 8},
                        {"values_read", "values", number, 6},
                        {"values_written", "written", number, 7},
                        {"more_values"},
                        {"class", "class"},
                        {"evidence", "evidence"}},
                       {}};
    const Indices choosers = indices();
    for (const auto& [place, one] : registers_) {
        const RegisterEvidence& e = one.evidence;
        if (e.reads + e.writes == 0) {
            continue; // only the hypervisor accessed it
        }
        Verdict verdict = class_of(one, choosers);
        table.rows.push_back({one.device, table::Hex{one.offset}, one.name, e.reads, e.writes,
                              std::uint64_t{e.read.count()}, std::uint64_t{e.written.count()},
                              e.read.full() || e.written.full(), verdict.name,
                              std::move(verdict.evidence)});
    }
    tell_left_out(table.left_out, left_out_, "accesses to registers", most_);
    return table;
}

} // namespace mmioscope::analysis
