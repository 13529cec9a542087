#include "analysis/register_classes.hpp"

#include "registers/fields_text.hpp"
#include "system/capped_map.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <optional>

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
    add_left_out(table.left_out, left_out_, "accesses to registers", most_);
    return table;
}

namespace {

std::string counted(const DistinctValues& values) {
    return fmt::format("{}{}", values.count(), values.full() ? " or more" : "");
}

/// Bits that the next read never gives again, if it comes at once: four times, and they stay zero.
std::uint32_t cleared_by_reads(const RegisterEvidence& e) {
    std::uint32_t bits = 0;
    for (std::size_t bit = 0; bit < e.dropped.size(); ++bit) {
        bits |= e.dropped[bit] >= 4 ? std::uint32_t{1} << bit : 0;
    }
    return bits & ~e.held & e.rested;
}
Verdict read_clears(std::uint32_t bits) {
    return {"read-clears", fmt::format("bits {:#x} that were read as one, and read again at once, "
                                       "were zero each time",
                                       bits)};
}

/// Each read moves a further word: half of the reads follow one, perhaps after a look at a status.
bool drains(const RegisterEvidence& e) {
    return e.read.full() && e.drained * 2 >= e.reads;
}

/// A counter goes on: it has not changed for four times as long as it had been read until then.
bool stopped(const RegisterEvidence& e) {
    return e.stayed_last >= 8 && e.last_read - e.last_change >= 4 * (e.last_change - e.first_read);
}

Verdict of_reads(const RegisterEvidence& e) {
    const std::uint64_t changed = e.rose + e.fell;
    const std::uint64_t pairs = changed + e.stayed;
    if (changed == 0) {
        return e.read.count() == 1
                   ? Verdict{"constant so far", fmt::format("reads: {}, all the same", e.reads)}
               : e.uncertain || e.stayed == 0
                   ? Verdict{"unclear", "each CPU reads another value, or values are not certain"}
                   : Verdict{"constant so far",
                             fmt::format("reads: {}, by each CPU all the same", e.reads)};
    }
    if (changed >= 2 && e.by_others == changed) {
        return {"status", fmt::format("its {} changes are of bits that were written to another "
                                      "register",
                                      changed)};
    }
    const std::uint64_t one_way = std::max(e.rose, e.fell);
    if (changed >= 4 && e.read.count() >= 5 && one_way * 10 >= changed * 9) {
        return {"counter", fmt::format("{} of {} changes {}", one_way, changed,
                                       e.rose >= e.fell ? "rose" : "fell")};
    }
    if (changed >= 2 && stopped(e)) {
        return {"status", fmt::format("changed {} times, and then no more in {} reads", changed,
                                      e.stayed_last)};
    }
    if (changed >= 2 && one_way == changed && e.read.count() == changed + 1) {
        return {"counter so far",
                fmt::format("{} of {} changes {}", one_way, changed, e.rose > 0 ? "rose" : "fell")};
    }
    if (drains(e)) {
        return {"fifo", fmt::format("{} of {} reads differ from the one before", changed, pairs)};
    }
    if (const std::uint32_t bits = cleared_by_reads(e); bits != 0) {
        return read_clears(bits);
    }
    if (!e.read.full() && changed < e.read.count()) { // as a status, a counter or data would
        return {"unclear",
                fmt::format("{} of {} reads changed without a write, to no earlier value", changed,
                            pairs)};
    }
    return {"status", fmt::format("{} of {} reads changed without a write, bits {:#x}", changed,
                                  pairs, e.moved)};
}

Verdict of_writes(const RegisterEvidence& e) {
    if (e.others_cleared >= 2 && e.others_cleared * 4 >= e.others_shown * 3) {
        return {"clear", fmt::format("{} of {} writes cleared these bits of another register",
                                     e.others_cleared, e.others_shown)};
    }
    // A command, always the same, may set a bit of its status.
    if (e.others_set >= 2 && e.others_set * 4 >= e.others_unset * 3 && e.written.count() >= 2) {
        return {"set", fmt::format("{} of {} writes set these bits of another register",
                                   e.others_set, e.others_unset)};
    }
    if (e.written.full() && e.streamed * 2 >= e.writes) {
        return {"fifo", fmt::format("{} of {} writes follow one to it", e.streamed, e.writes)};
    }
    return {"never read back",
            fmt::format("writes: {}, different values: {}", e.writes, counted(e.written))};
}

// A bit is stored if it was written and read as one and as zero, and never changed alone.
std::uint32_t stored(const RegisterEvidence& e) {
    return e.ones & e.zeros & ~e.not_one & ~e.not_zero & ~e.moved;
}

Verdict of_both(const RegisterEvidence& e) {
    if (e.read_back == 0 && e.chosen_alike == 0) {
        return {"unclear", "no read right after a write"};
    }
    const std::uint64_t changed = e.rose + e.fell;
    // Storage would stay, and a counter keep its direction.
    if (drains(e) && changed >= e.stayed && std::min(e.rose, e.fell) * 10 > changed) {
        return {"fifo", fmt::format("{} of {} reads without a write differ from the one before",
                                    changed, changed + e.stayed)};
    }
    // A device may raise a bit again before it is read; then zeros that change nothing tell.
    const bool zeros_keep = e.kept >= 2 && e.lost == 0 && e.set == 0;
    if (e.cleared >= 2 && (zeros_keep || e.cleared * 4 >= e.ones_to_ones * 3)) {
        return {"w1c", fmt::format("{} of {} writes cleared", e.cleared, e.ones_to_ones)};
    }
    // Who acknowledges writes what was read. It may be raised again before the next read.
    if (e.gone >= 2 && e.repeated * 4 >= e.writes * 3) {
        return {"w1c",
                fmt::format("{} of {} writes repeat what was read, and cleared bits {} times",
                            e.repeated, e.writes, e.gone)};
    }
    if (e.set >= 1 && e.kept >= 1 && e.lost == 0) {
        return {"set",
                fmt::format("{} writes set bits, and {} left others as they were", e.set, e.kept)};
    }
    if (const std::uint32_t mask = stored(e); mask != 0 && e.agreed * 2 >= e.read_back) {
        const std::uint32_t alone = e.not_one & ~e.ones;
        return {"storage",
                fmt::format("mask {:#x}: {} of {} writes were read back{}", mask, e.agreed,
                            e.read_back,
                            alone == 0 ? "" : fmt::format(", bits {:#x} read as zero", alone))};
    }
    // Something else, such as a reset, may change a register that gives back what was written.
    if (const std::uint32_t bits = e.ones & e.zeros;
        bits != 0 && e.read_back >= 16 && e.agreed * 10 >= e.read_back * 9) {
        return {"storage", fmt::format("mask {:#x}: {} of {} writes were read back", bits, e.agreed,
                                       e.read_back)};
    }
    if (e.agreed == e.read_back) {
        return {"storage so far",
                fmt::format("read back: {}, no bit as one and as zero", e.agreed)};
    }
    if (e.agreed == 0 && e.read.full() && e.written.full() && stored(e) == 0) {
        return {"fifo", fmt::format("none of {} writes was read back", e.read_back)};
    }
    if (e.chosen_alike >= 2 && e.chosen_changed >= 4 &&
        (e.chosen_alike + e.chosen_changed) >= 9 * e.chosen_differ) {
        return {"data", fmt::format("{} of {} reads follow what was written to another register",
                                    e.chosen_alike + e.chosen_changed,
                                    e.chosen_alike + e.chosen_changed + e.chosen_differ)};
    }
    if (const std::uint32_t bits = cleared_by_reads(e); bits != 0) {
        return read_clears(bits);
    }
    const bool counts = std::max(e.rose, e.fell) * 10 >= changed * 9;
    if (e.agreed == 0 && changed >= 2 && changed >= e.read.count() && !counts) {
        return {"status", fmt::format("{} of {} reads changed without a write, and none of {} "
                                      "writes was read back",
                                      changed, changed + e.stayed, e.read_back)};
    }
    if (e.not_one != 0 && (e.not_one & e.ones) == 0 && e.read_back >= 2) {
        // If what is read does not follow what is written, writes may have no effect at all.
        const bool follows = (e.ones & e.zeros) != 0 || (e.read.count() >= 2 && e.moved == 0);
        return {e.ones != 0 && follows ? "self-clear" : "self-clear so far",
                fmt::format("bits {:#x} were written as one and read as zero", e.not_one)};
    }
    // A part of it keeps what is written; the rest is an answer.
    if (const std::uint32_t mask = stored(e); mask != 0 && e.read_back >= 16) {
        return {"storage",
                fmt::format("mask {:#x}: these bits were read back {} times", mask, e.read_back)};
    }
    return {"unclear", fmt::format("{} of {} writes were read back", e.agreed, e.read_back)};
}

} // namespace

bool Verdict::claims() const {
    return name != "never read back" && name != "unclear" && !name.ends_with("so far");
}

Verdict verdict_of(const RegisterEvidence& e) {
    return e.writes == 0 ? of_reads(e) : e.reads == 0 ? of_writes(e) : of_both(e);
}

bool commands(const RegisterEvidence& e, const RegisterEvidence& other) {
    return e.late >= 4 && e.late * 4 >= e.waited * 3 && (e.late_up | e.late_down) != 0 &&
           e.late * 4 >= other.late_by_any * 3;
}

} // namespace mmioscope::analysis
