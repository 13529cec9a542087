#include "analysis/register_classes.hpp"

#include "registers/fields_text.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <optional>

namespace mmioscope::analysis {

namespace {

struct Verdict {
    std::string_view name;
    std::string evidence;
};

std::string counted(const DistinctValues& values) {
    return fmt::format("{}{}", values.count(), values.full() ? " or more" : "");
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
    const std::uint64_t one_way = std::max(e.rose, e.fell);
    if (changed >= 4 && e.read.count() >= 5 && one_way * 10 >= changed * 9) {
        return {"counter", fmt::format("{} of {} changes {}", one_way, changed,
                                       e.rose >= e.fell ? "rose" : "fell")};
    }
    if (changed >= 2 && one_way == changed && e.read.count() == changed + 1) {
        return {"counter so far",
                fmt::format("{} of {} changes {}", one_way, changed, e.rose > 0 ? "rose" : "fell")};
    }
    if (e.read.full() && e.drained * 2 >= e.reads) {
        return {"fifo", fmt::format("{} of {} reads differ from the one before", changed, pairs)};
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
    // A device may raise a bit again before it is read; then zeros that change nothing tell.
    const bool zeros_keep = e.kept >= 2 && e.lost == 0 && e.set == 0;
    if (e.cleared >= 2 && (zeros_keep || e.cleared * 4 >= e.ones_to_ones * 3)) {
        return {"w1c", fmt::format("{} of {} writes cleared", e.cleared, e.ones_to_ones)};
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
    if (e.agreed == e.read_back) {
        return {"storage so far",
                fmt::format("read back: {}, no bit as one and as zero", e.agreed)};
    }
    if (e.agreed == 0 && e.read.full() && e.written.full()) {
        return {"fifo", fmt::format("none of {} writes was read back", e.read_back)};
    }
    if (e.chosen_alike >= 2 && e.chosen_changed >= 4 &&
        (e.chosen_alike + e.chosen_changed) >= 9 * e.chosen_differ) {
        return {"data", fmt::format("{} of {} reads follow what was written to another register",
                                    e.chosen_alike + e.chosen_changed,
                                    e.chosen_alike + e.chosen_changed + e.chosen_differ)};
    }
    if (e.not_one != 0 && (e.not_one & e.ones) == 0 && e.read_back >= 2) {
        return {"self-clear",
                fmt::format("bits {:#x} were written as one and read as zero", e.not_one)};
    }
    return {"unclear", fmt::format("{} of {} writes were read back", e.agreed, e.read_back)};
}

Verdict verdict_of(const RegisterEvidence& e) {
    return e.writes == 0 ? of_reads(e) : e.reads == 0 ? of_writes(e) : of_both(e);
}

} // namespace

void DistinctValues::add(std::uint32_t value) {
    const auto end = values_.begin() + static_cast<std::ptrdiff_t>(count_);
    if (!full() && std::find(values_.begin(), end, value) == end) {
        values_[count_++] = value;
    }
}

bool RegisterClasses::means(std::string_view name) const {
    return name.starts_with(device_) &&
           (device_.empty() || name.size() == device_.size() || name[device_.size()] == '@' ||
            name[device_.size()] == '[');
}

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

RegisterClasses::One* RegisterClasses::of(const Event& event) {
    if (!means(event.device())) {
        return nullptr;
    }
    const std::uint64_t offset = offset_of(event);
    const auto at = registers_.find({event.record.device, offset});
    if (at != registers_.end()) {
        return &at->second;
    }
    if (registers_.size() == most_) {
        ++left_out_;
        return nullptr;
    }
    One& one = registers_[{event.record.device, offset}];
    one.device = event.device();
    one.name = registers::register_text(event.reg(), offset);
    one.offset = offset;
    return &one;
}

void RegisterClasses::add(const Event& event) {
    const abi::Record& record = event.record;
    if (record.type == abi::RecordType::gap || record.type == abi::RecordType::power) {
        since_ = now_; // what was not seen, or a reset, may have changed any register
        last_written_.clear();
        last_read_.clear();
        return;
    }
    if (record.type != abi::RecordType::access && record.type != abi::RecordType::own) {
        return;
    }
    One* const one = of(event);
    if (one == nullptr) {
        return;
    }
    ++now_;
    const bool writes = abi::is_write(record);
    RegisterEvidence& e = one->evidence;
    if (record.type == abi::RecordType::access) {
        ++(writes ? e.writes : e.reads);
    }
    // A part of a register says nothing of the rest, and what is wider than a word is not followed.
    const bool counts = record.type == abi::RecordType::access &&
                        (record.flags & abi::flag_value_unknown) == 0 &&
                        event.offset() == one->offset &&
                        abi::access_size(record) <= sizeof(std::uint32_t) && record.cpu < most_cpus;
    const auto value = static_cast<std::uint32_t>(record.value);
    One*& last = last_written_[record.device];
    One*& read_before = last_read_[record.device];
    e.drained += !writes && read_before == one ? 1 : 0;
    read_before = writes ? nullptr : one;
    if (!counts) {
        one->views = {};
        one->write_time = 0;
        e.uncertain = true;
        last = writes ? nullptr : last;
    } else if (writes) {
        e.streamed += last == one ? 1 : 0;
        take_write(*one, record.cpu, value);
        last = one;
    } else {
        take_read(*one, record.cpu, value, last);
    }
}

void RegisterClasses::take_write(One& one, unsigned cpu, std::uint32_t value) {
    one.evidence.written.add(value);
    const View& view = one.views[cpu];
    one.seen_before = view.time > since_ && view.time > one.write_time;
    one.before = view.value;
    one.write_time = now_;
    one.wrote = value;
    one.writer = cpu;
    one.fresh = true;
}

void RegisterClasses::take_read(One& one, unsigned cpu, std::uint32_t value, One* writer) {
    RegisterEvidence& e = one.evidence;
    e.read.add(value);
    View& view = one.views[cpu];
    const bool known = view.time > since_ && view.time > one.write_time;
    if (known) {
        ++(value == view.value ? e.stayed : value > view.value ? e.rose : e.fell);
        e.moved |= value ^ view.value;
    }
    e.uncertain = e.uncertain || (view.time != 0 && !known);
    if (known && writer != nullptr && writer != &one && writer->writer == cpu &&
        writer->write_time > view.time && (view.value & writer->wrote) != 0) {
        RegisterEvidence& other = writer->evidence;
        ++other.others_shown;
        other.others_cleared += (value & view.value & writer->wrote) == 0 ? 1 : 0;
    }
    if (writer != nullptr && writer != &one && writer->writer == cpu) {
        take_chosen(one, value, *writer);
    }
    if (one.fresh && one.write_time > since_ && one.writer == cpu) {
        const std::uint32_t wrote = one.wrote;
        ++e.read_back;
        e.agreed += value == wrote ? 1 : 0;
        e.ones |= wrote & value;
        e.zeros |= ~wrote & ~value;
        e.not_one |= wrote & ~value;
        e.not_zero |= ~wrote & value;
        if (one.seen_before) {
            const std::uint32_t before = one.before;
            e.ones_to_ones += (wrote & before) != 0 ? 1 : 0;
            e.cleared += (wrote & before) != 0 && (wrote & before & value) == 0 ? 1 : 0;
            e.set += (wrote & ~before & value) != 0 ? 1 : 0;
            e.kept += (before & ~wrote & value) != 0 ? 1 : 0;
            e.lost += (before & ~wrote & ~value) != 0 ? 1 : 0;
        }
    }
    one.fresh = false;
    view = {now_, value};
}

void RegisterClasses::take_chosen(One& one, std::uint32_t value, const One& writer) {
    RegisterEvidence& e = one.evidence;
    if (one.chooser != &writer) {
        e.chosen_differ += one.chooser != nullptr ? 1 : 0;
        one.chosen.clear();
        one.chooser = &writer;
    } else if (const auto at = one.chosen.find(writer.wrote); at != one.chosen.end()) {
        ++(at->second == value ? e.chosen_alike : e.chosen_differ);
    } else if (const auto before = one.chosen.find(one.chosen_by); before != one.chosen.end()) {
        e.chosen_changed += before->second != value ? 1 : 0;
    }
    one.chosen_by = writer.wrote;
    if (one.chosen.size() < most_chosen || one.chosen.contains(writer.wrote)) {
        one.chosen[writer.wrote] = value;
    }
}

std::string RegisterClasses::description(std::span<const registers::Device> devices) const {
    std::string text;
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
        const Verdict verdict = verdict_of(one.evidence);
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
    for (const auto& [place, one] : registers_) {
        const RegisterEvidence& e = one.evidence;
        if (e.reads + e.writes == 0) {
            continue; // only the hypervisor accessed it
        }
        Verdict verdict = verdict_of(e);
        table.rows.push_back({one.device, table::Hex{one.offset}, one.name, e.reads, e.writes,
                              std::uint64_t{e.read.count()}, std::uint64_t{e.written.count()},
                              e.read.full() || e.written.full(), verdict.name,
                              std::move(verdict.evidence)});
    }
    if (left_out_ > 0) {
        table.closing = fmt::format("... {} accesses to other registers are left out", left_out_);
    }
    return table;
}

} // namespace mmioscope::analysis
