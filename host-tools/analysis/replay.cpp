#include "analysis/replay.hpp"

#include <algorithm>

namespace mmioscope::analysis {

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

std::string_view Replay::function_of(const Event& event) {
    const Id id = event.code_id();
    if (id >= functions_of_.size()) {
        functions_of_.resize(id + 1);
    }
    std::string_view& name = functions_of_[id];
    if (name.data() == nullptr) {
        const Location* const code = event.code();
        name = *functions_.insert(code == nullptr ? std::string() : code->function).first;
    }
    return name;
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
    const std::optional<Thread> thread =
        finder_.add(event); // a poll that this ends is folded first
    wait(event);
    Step step;
    step.size = abi::access_size(record);
    step.offset = event.offset();
    step.value = record.value;
    step.event = event.number;
    step.reg = event.reg();
    step.function = function_of(event);
    const auto written = written_.find(step.offset);
    if (abi::is_write(record)) {
        step.kind = Step::Kind::write;
        written_[step.offset] = {step.value, step.size};
    } else {
        const bool back = known && written != written_.end() && written->second.size == step.size &&
                          written->second.value == step.value;
        step.kind = back ? Step::Kind::check : Step::Kind::read;
    }
    steps_.push_back(step);
    parts_.push_back({thread});
}

void Replay::wait(const Event& event) {
    const std::uint64_t pause =
        event.nanoseconds > end_ && !steps_.empty() ? event.nanoseconds - end_ : 0;
    end_ = std::max(end_, event.nanoseconds + tick_.nanoseconds(event.record.duration));
    if (pause >= limits_.delay && pause < limits_.idle) {
        Step step;
        step.kind = Step::Kind::delay;
        step.value = pause / 1000;
        steps_.push_back(step);
        parts_.emplace_back();
    }
}

// Only a loop that does nothing but read is one step: what else it writes would be lost. A delay in
// it is part of the waiting.
void Replay::fold(Thread thread, const Poll& poll) {
    if (poll.kind != PollKind::poll || poll.bits == 0) {
        return;
    }
    // From behind: it has just ended.
    std::size_t first = steps_.size(), last = first;
    for (std::size_t at = steps_.size(); at-- > 0;) {
        const Step& step = steps_[at];
        if (step.event != 0 && step.event < poll.first.number) {
            break;
        }
        if (step.event != 0 && step.event <= poll.last.number && parts_[at].thread == thread) {
            if (step.kind == Step::Kind::write || step.offset != poll.read.offset()) {
                return;
            }
            last = first == steps_.size() ? at : last;
            first = at;
        }
    }
    if (first == steps_.size()) {
        return;
    }
    for (std::size_t at = first + 1; at <= last; ++at) {
        Part& part = parts_[at];
        part.folded = part.folded || part.thread == thread || steps_[at].kind == Step::Kind::delay;
    }
    Step& step = steps_[first];
    step.kind = Step::Kind::poll;
    step.mask = poll.bits;
    step.value = poll.read.record.value & poll.bits;
    step.answer = poll.read.record.value;
    step.reg = poll.read.reg();
    step.function = function_of(poll.read);
}

void Replay::finish() {
    finder_.cut_all();
    const auto folded = std::ranges::find(parts_, true, &Part::folded);
    auto kept = static_cast<std::size_t>(folded - parts_.begin());
    for (std::size_t at = kept; at < steps_.size(); ++at) {
        if (!parts_[at].folded) {
            steps_[kept++] = steps_[at];
        }
    }
    steps_.resize(kept);
    parts_.clear();
}

} // namespace mmioscope::analysis
