#include "analysis/replay.hpp"

#include "analysis/register_fields.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace mmioscope::analysis {

namespace {

// "Clock: ClkEnable=1; mmci_set_clkreg"
std::string comment_of(const Event& event) {
    std::string text = registers::register_text(event.reg(), event.offset());
    const std::string fields = fields_of(event);
    text += fields.empty() ? "" : ": " + fields;
    if (const Location* const code = event.code(); code != nullptr && !code->function.empty()) {
        text += "; " + code->function;
    }
    return text;
}

} // namespace

bool Replay::is_of_region(const Event& event) {
    const std::uint16_t region = region_.value_or(event.record.device);
    if (event.record.device != region) {
        other_ = given_ || !other_.empty() ? other_ : std::string(event.device());
        return false;
    }
    if (device_.empty()) {
        device_ = event.device();
        region_ = region;
        base_ = abi::physical_address(event.record) - event.offset();
    }
    return true;
}

void Replay::add(const Event& event) {
    const abi::Record& record = event.record;
    if (record.type != abi::RecordType::access || record.device == abi::no_device ||
        !is_of_region(event)) {
        return;
    }
    if (accesses_ == limits_.accesses) {
        ++left_out_;
        return;
    }
    ++accesses_;
    const bool known = (record.flags & abi::flag_value_unknown) == 0;
    if ((!known && abi::is_write(record)) || abi::access_size(record) > 8) {
        written_.erase(event.offset());
        first_undoable_ = undoable_++ == 0 ? event.number : first_undoable_;
        return;
    }
    wait(event);
    Held held;
    Step& step = held.step;
    step.size = abi::access_size(record);
    step.offset = event.offset();
    step.value = record.value;
    step.event = event.number;
    step.comment = comment_of(event);
    const auto written = written_.find(step.offset);
    if (abi::is_write(record)) {
        step.kind = Step::Kind::write;
        written_[step.offset] = {step.value, step.size};
    } else {
        const bool back = known && written != written_.end() && written->second.size == step.size &&
                          written->second.value == step.value;
        step.kind = back ? Step::Kind::check : Step::Kind::read;
    }
    held_.push_back(std::move(held));
    held_.back().thread = finder_.add(event);
}

void Replay::wait(const Event& event) {
    const std::uint64_t pause =
        event.nanoseconds > end_ && !held_.empty() ? event.nanoseconds - end_ : 0;
    end_ = std::max(end_, event.nanoseconds + tick_.nanoseconds(event.record.duration));
    if (pause >= limits_.delay && pause < limits_.idle) {
        Step step;
        step.kind = Step::Kind::delay;
        step.value = pause / 1000;
        held_.push_back({std::move(step), std::nullopt});
    }
}

// Only a loop that does nothing but read is one step: what else it writes would be lost. A delay in
// it is part of the waiting.
void Replay::fold(Thread thread, const Poll& poll) {
    if (poll.kind != PollKind::poll || poll.bits == 0) {
        return;
    }
    // From behind: it has just ended.
    auto first = held_.end(), last = first;
    for (auto at = held_.end(); at != held_.begin();) {
        --at;
        const Step& step = at->step;
        if (step.event != 0 && step.event < poll.first.number) {
            break;
        }
        if (step.event != 0 && step.event <= poll.last.number && at->thread == thread) {
            if (step.kind == Step::Kind::write || step.offset != poll.read.offset()) {
                return;
            }
            last = first == held_.end() ? at : last;
            first = at;
        }
    }
    if (first == held_.end()) {
        return;
    }
    for (auto at = first + 1; at <= last; ++at) {
        at->folded = at->folded || at->thread == thread || at->step.kind == Step::Kind::delay;
    }
    first->step.kind = Step::Kind::poll;
    first->step.mask = poll.bits;
    first->step.value = poll.read.record.value & poll.bits;
    first->step.comment = comment_of(poll.read);
}

std::vector<Step> Replay::steps() const {
    std::vector<Step> steps;
    for (const Held& held : held_) {
        if (!held.folded) {
            steps.push_back(held.step);
        }
    }
    return steps;
}

} // namespace mmioscope::analysis
