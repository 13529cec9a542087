#include "analysis/register_classes.hpp"

#include "registers/fields_text.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <bit>
#include <optional>
#include <utility>

namespace mmioscope::analysis {

namespace {

using Verdict = RegisterClass;

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

/// One other register changes after a write here, always in the same bits, and only then.
bool commands(const RegisterEvidence& e, const RegisterEvidence& other) {
    return e.late >= 4 && e.late * 4 >= e.waited * 3 && (e.late_up | e.late_down) != 0 &&
           e.late * 4 >= other.late_by_any * 3;
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
        // If no bit is kept, writes may have no effect at all.
        return {e.ones == 0 ? "self-clear so far" : "self-clear",
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
    nanoseconds_ = event.nanoseconds;
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
    auto& [before, earlier] = last_read_[record.device];
    const bool next = !writes && before == one; // directly after another read of it
    e.drained += next || (!writes && earlier == one) ? 1 : 0;
    if (writes) {
        before = earlier = nullptr;
    } else if (!next) {
        earlier = std::exchange(before, one);
    }
    if (!counts) {
        one->views = {};
        one->write_time = 0;
        one->reader = most_cpus;
        e.uncertain = true;
        last = writes ? nullptr : last;
    } else if (writes) {
        e.streamed += last == one ? 1 : 0;
        take_write(*one, record.cpu, value);
        last = one;
    } else {
        take_read(*one, record.cpu, value, last, next);
    }
}

void RegisterClasses::take_write(One& one, unsigned cpu, std::uint32_t value) {
    one.evidence.written.add(value);
    const View& view = one.views[cpu];
    one.seen_before = view.time > since_ && view.time > one.write_time;
    one.before = view.value;
    const bool repeats = one.seen_before && value == view.value;
    one.evidence.repeated += repeats ? 1 : 0;
    one.acknowledged = repeats ? value : one.acknowledged & value;
    one.write_time = now_;
    one.wrote = value;
    one.writer = cpu;
    one.fresh = true;
}

void RegisterClasses::take_read(One& one, unsigned cpu, std::uint32_t value, One* writer,
                                bool next) {
    RegisterEvidence& e = one.evidence;
    View& view = one.views[cpu];
    const bool known = view.time > since_ && view.time > one.write_time;
    if (known) {
        ++(value == view.value ? e.stayed : value > view.value ? e.rose : e.fell);
        e.moved |= value ^ view.value;
    }
    const bool differs = known && value != view.value;
    if (differs || e.read.count() == 0) {
        e.last_change = nanoseconds_;
        e.first_read = e.read.count() == 0 ? nanoseconds_ : e.first_read;
        e.stayed_last = 0;
    }
    e.stayed_last += known && !differs ? 1 : 0;
    e.last_read = nanoseconds_;
    e.read.add(value);
    e.uncertain = e.uncertain || (view.time != 0 && !known);
    if (known && next && one.reader == cpu) {
        take_next(e, view.value, value);
    }
    if (writer != nullptr && writer != &one && writer->writer == cpu) {
        if (known && writer->write_time > view.time) {
            take_effect(one, view.value, value, *writer);
            e.by_others += differs && (value == (view.value | writer->wrote) ||
                                       value == (view.value & ~writer->wrote))
                               ? 1
                               : 0;
        }
        take_answer(one, value, *writer, next);
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
        e.gone += (one.acknowledged & ~value) != 0 ? 1 : 0;
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
    one.acknowledged = 0;
    one.reader = cpu;
    view = {now_, value};
}

void RegisterClasses::take_next(RegisterEvidence& e, std::uint32_t before, std::uint32_t value) {
    // If other bits rise meanwhile, the device changes by itself.
    e.held |= (value & ~before) != 0 ? before : before & value;
    e.rested |= ~before & ~value;
    for (std::uint32_t fell = before & ~value & ~e.held; fell != 0; fell &= fell - 1) {
        ++e.dropped[static_cast<std::size_t>(std::countr_zero(fell))];
    }
}

void RegisterClasses::take_effect(One& one, std::uint32_t before, std::uint32_t value,
                                  One& writer) {
    RegisterEvidence& e = writer.evidence;
    const std::uint32_t wrote = writer.wrote;
    if ((before & wrote) != 0) {
        const bool cleared = (value & before & wrote) == 0;
        ++e.others_shown;
        e.others_cleared += cleared ? 1 : 0;
        if (cleared && writer.clears == nullptr) {
            writer.clears = &one;
            one.cleared_by = one.cleared_by == nullptr ? &writer : one.cleared_by;
        }
    }
    const bool sets = value == (before | wrote);
    if ((wrote & ~before) != 0 && (writer.sets == &one || (writer.sets == nullptr && sets))) {
        writer.sets = &one;
        ++e.others_unset;
        e.others_set += sets ? 1 : 0;
    }
}

void RegisterClasses::take_answer(One& one, std::uint32_t value, One& writer, bool next) {
    if (one.answer_time != writer.write_time) {
        one.answer_time = writer.write_time;
        one.answer = value;
        one.answer_stayed = one.answer_changed = false;
        return;
    }
    // Of what else is read in between, the change may be an effect.
    one.answer_changed = one.answer_changed || !next;
    if (one.answer_changed) {
        return;
    }
    RegisterEvidence& e = writer.evidence;
    if (value == one.answer) {
        e.waited += !one.answer_stayed && writer.changes == &one ? 1 : 0;
        one.answer_stayed = true;
        return;
    }
    one.answer_changed = true;
    if (!one.answer_stayed) {
        return; // the reads may have no pause for it
    }
    ++one.evidence.late_by_any;
    if (writer.changes == nullptr) {
        writer.changes = &one;
        ++e.waited;
    }
    if (writer.changes == &one) {
        ++e.late;
        e.late_up &= value & ~one.answer;
        e.late_down &= one.answer & ~value;
    }
}

void RegisterClasses::take_chosen(One& one, std::uint32_t value, const One& writer) {
    RegisterEvidence& e = one.evidence;
    // What was written here may be an index too, of registers behind this one.
    const std::pair both(writer.wrote, one.wrote);
    if (one.chooser != &writer) {
        e.chosen_differ += one.chooser != nullptr ? 1 : 0;
        one.chosen.clear();
        one.chosen_twice.clear();
        one.chooser = &writer;
    } else if (const auto at = one.chosen.find(writer.wrote); at != one.chosen.end()) {
        const auto behind = one.chosen_twice.find(both);
        if (at->second.value == value) {
            ++e.chosen_alike;
        } else if (behind != one.chosen_twice.end()) {
            ++(behind->second == value ? e.chosen_alike : e.chosen_differ);
        } else if (one.write_time < at->second.time) {
            ++e.chosen_differ;
        }
    } else if (const auto before = one.chosen.find(one.chosen_by); before != one.chosen.end()) {
        e.chosen_changed += before->second.value != value ? 1 : 0;
    }
    one.chosen_by = writer.wrote;
    if (one.chosen.size() < most_chosen || one.chosen.contains(writer.wrote)) {
        one.chosen[writer.wrote] = {now_, value};
    }
    if (one.chosen_twice.size() < most_chosen || one.chosen_twice.contains(both)) {
        one.chosen_twice[both] = value;
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

RegisterClass RegisterClasses::class_of(const One& one, const Indices& indices) {
    Verdict verdict = verdict_of(one.evidence);
    const std::string_view name = verdict.name;
    const auto says = [](const One* other, std::string_view what) {
        return other != nullptr && verdict_of(other->evidence).name == what;
    };
    if (const auto data = indices.find(&one); data != indices.end() && name != "fifo") {
        return {"index", fmt::format("chooses what {} shows", data->second->name)};
    }
    const bool claims = name != "never read back" && name != "unclear" && !name.ends_with("so far");
    if (!claims && says(one.changes, "status") && commands(one.evidence, one.changes->evidence)) {
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
    if (left_out_ > 0) {
        table.closing = fmt::format("... {} accesses to other registers are left out", left_out_);
    }
    return table;
}

} // namespace mmioscope::analysis
