#include "analysis/register_history.hpp"

#include <algorithm>
#include <bit>

namespace mmioscope::analysis {

void DistinctValues::add(std::uint32_t value) {
    const auto end = values_.begin() + static_cast<std::ptrdiff_t>(count_);
    if (!full() && std::find(values_.begin(), end, value) == end) {
        values_[count_++] = value;
    }
}

void RegisterHistory::forget() {
    views_ = {};
    write_time_ = 0;
    reader_ = most_cpus;
    evidence.uncertain = true;
}

void RegisterHistory::write(unsigned cpu, std::uint32_t value, const When& now) {
    evidence.written.add(value);
    const View& view = views_[cpu];
    seen_before_ = view.time > now.since && view.time > write_time_;
    before_ = view.value;
    const bool repeats = seen_before_ && value == view.value;
    evidence.repeated += repeats ? 1 : 0;
    const bool goes_on = write_time_ > now.since && writer_ == cpu;
    acknowledged_ = (seen_before_ ? before_ : goes_on ? acknowledged_ : 0) & value;
    write_time_ = now.access;
    wrote_ = value;
    writer_ = cpu;
    fresh_ = true;
}

void RegisterHistory::read(unsigned cpu, std::uint32_t value, const When& now,
                           RegisterHistory* writer, bool next) {
    View& view = views_[cpu];
    const bool known = view.time > now.since && view.time > write_time_;
    learn_pair(view, known, value, now);
    if (known && next && reader_ == cpu) {
        learn_next(view.value, value);
    }
    if (writer != nullptr && writer != this && writer->writer_ == cpu) {
        if (known && writer->write_time_ > view.time) {
            learn_effect(view.value, value, *writer);
        }
        learn_answer(value, *writer, next);
        learn_chosen(value, now, *writer);
    }
    if (fresh_ && write_time_ > now.since && writer_ == cpu) {
        learn_back(value);
    }
    fresh_ = false;
    acknowledged_ = 0;
    reader_ = cpu;
    view = {now.access, value};
}

void RegisterHistory::learn_pair(const View& view, bool known, std::uint32_t value,
                                 const When& now) {
    RegisterEvidence& e = evidence;
    if (known) {
        ++(value == view.value ? e.stayed : value > view.value ? e.rose : e.fell);
        e.moved |= value ^ view.value;
    }
    const bool differs = known && value != view.value;
    if (differs || e.read.count() == 0) {
        e.last_change = now.nanoseconds;
        e.first_read = e.read.count() == 0 ? now.nanoseconds : e.first_read;
        e.stayed_last = 0;
    }
    e.stayed_last += known && !differs ? 1 : 0;
    e.last_read = now.nanoseconds;
    e.read.add(value);
    e.uncertain = e.uncertain || (view.time != 0 && !known);
}

void RegisterHistory::learn_back(std::uint32_t value) {
    RegisterEvidence& e = evidence;
    const std::uint32_t wrote = wrote_, before = before_;
    ++e.read_back;
    e.agreed += value == wrote ? 1 : 0;
    e.ones |= wrote & value;
    e.zeros |= ~wrote & ~value;
    e.not_one |= wrote & ~value;
    e.not_zero |= ~wrote & value;
    e.gone += (acknowledged_ & ~value) != 0 ? 1 : 0;
    e.ones_to_ones += acknowledged_ != 0 ? 1 : 0;
    e.cleared += acknowledged_ != 0 && (acknowledged_ & value) == 0 ? 1 : 0;
    if (seen_before_) {
        e.set += (wrote & ~before & value) != 0 ? 1 : 0;
        e.kept += (before & ~wrote & value) != 0 ? 1 : 0;
        e.lost += (before & ~wrote & ~value) != 0 ? 1 : 0;
    }
}

void RegisterHistory::learn_next(std::uint32_t before, std::uint32_t value) {
    RegisterEvidence& e = evidence;
    // If other bits rise meanwhile, the device changes by itself.
    e.held |= (value & ~before) != 0 ? before : before & value;
    e.rested |= ~before & ~value;
    for (std::uint32_t fell = before & ~value & ~e.held; fell != 0; fell &= fell - 1) {
        ++e.dropped[static_cast<std::size_t>(std::countr_zero(fell))];
    }
}

void RegisterHistory::learn_effect(std::uint32_t before, std::uint32_t value,
                                   RegisterHistory& writer) {
    RegisterEvidence& e = writer.evidence;
    const std::uint32_t wrote = writer.wrote_;
    const bool sets = value == (before | wrote);
    evidence.by_others += value != before && (sets || value == (before & ~wrote)) ? 1 : 0;
    if ((before & wrote) != 0) {
        const bool cleared = (value & before & wrote) == 0;
        ++e.others_shown;
        e.others_cleared += cleared ? 1 : 0;
        if (cleared && writer.clears == nullptr) {
            writer.clears = this;
            cleared_by = cleared_by == nullptr ? &writer : cleared_by;
        }
    }
    if ((wrote & ~before) != 0 && (writer.sets == this || (writer.sets == nullptr && sets))) {
        writer.sets = this;
        ++e.others_unset;
        e.others_set += sets ? 1 : 0;
    }
}

void RegisterHistory::learn_answer(std::uint32_t value, RegisterHistory& writer, bool next) {
    if (answer_time_ != writer.write_time_) {
        answer_time_ = writer.write_time_;
        answer_ = value;
        answer_stayed_ = answer_changed_ = false;
        return;
    }
    // Of what else is read in between, the change may be an effect.
    answer_changed_ = answer_changed_ || !next;
    if (answer_changed_) {
        return;
    }
    RegisterEvidence& e = writer.evidence;
    if (value == answer_) {
        e.waited += !answer_stayed_ && writer.changes == this ? 1 : 0;
        answer_stayed_ = true;
        return;
    }
    answer_changed_ = true;
    if (!answer_stayed_) {
        return; // the reads may have no pause for it
    }
    ++evidence.late_by_any;
    if (writer.changes == nullptr) {
        writer.changes = this;
        ++e.waited;
    }
    if (writer.changes == this) {
        ++e.late;
        e.late_up &= value & ~answer_;
        e.late_down &= answer_ & ~value;
    }
}

void RegisterHistory::learn_chosen(std::uint32_t value, const When& now,
                                   const RegisterHistory& writer) {
    RegisterEvidence& e = evidence;
    // What was written here may be an index too, of registers behind this one.
    const std::pair both(writer.wrote_, wrote_);
    if (chooser != &writer) {
        e.chosen_differ += chooser != nullptr ? 1 : 0;
        chosen_.clear();
        chosen_twice_.clear();
        chooser = &writer;
    } else if (const auto at = chosen_.find(writer.wrote_); at != chosen_.end()) {
        const auto behind = chosen_twice_.find(both);
        if (at->second.value == value) {
            ++e.chosen_alike;
        } else if (behind != chosen_twice_.end()) {
            ++(behind->second == value ? e.chosen_alike : e.chosen_differ);
        } else if (write_time_ < at->second.time) {
            ++e.chosen_differ;
        }
    } else if (const auto before = chosen_.find(chosen_by_); before != chosen_.end()) {
        e.chosen_changed += before->second.value != value ? 1 : 0;
    }
    chosen_by_ = writer.wrote_;
    if (chosen_.size() < most_chosen || chosen_.contains(writer.wrote_)) {
        chosen_[writer.wrote_] = {now.access, value};
    }
    if (chosen_twice_.size() < most_chosen || chosen_twice_.contains(both)) {
        chosen_twice_[both] = value;
    }
}

} // namespace mmioscope::analysis
