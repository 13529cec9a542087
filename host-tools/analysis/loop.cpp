#include "analysis/loop.hpp"

#include "reading/kept.hpp"
#include "records/task_table.hpp"
#include "registers/interrupt_names.hpp"

#include <algorithm>

namespace mmioscope::analysis {

void Watch::add(const Event& event) {
    const std::uint64_t value = newest.record.value;
    if (accesses > 1) {
        changed |= last_change();
        ++(value == before ? same : value > before ? more : less);
    }
    before = accesses > 0 ? value : event.record.value;
    known = known && (event.record.flags & abi::flag_value_unknown) == 0;
    newest = event;
    ++accesses;
}

void Loop::add(const Event& event) {
    const std::size_t position = accesses_ % period_;
    if (accesses_ < period_) {
        by_position_[position] = static_cast<std::uint8_t>(watch_of(event));
    }
    last_ = by_position_[position];
    watches_[last_].add(event);
    if (accesses_++ == 0) {
        first_ = event;
    }
}

// All reads of a register count as one watch, because compilers unroll loops.
unsigned Loop::watch_of(const Event& event) {
    const auto found = std::find_if(watches_.begin(), watches_.end(), [&event](const Watch& one) {
        return !abi::is_write(event.record) &&
               place_of(one.newest.record) == place_of(event.record);
    });
    if (found != watches_.end()) {
        return static_cast<unsigned>(found - watches_.begin());
    }
    watches_.emplace_back().newest = event;
    return static_cast<unsigned>(watches_.size() - 1);
}

std::vector<Watch> Loop::watches() const {
    std::vector<Watch> all = watches_;
    std::ranges::sort(all, {}, [](const Watch& one) { return one.newest.number; });
    return all;
}

namespace {

// Never 0, which means no access.
std::uint32_t site_of(const abi::Record& record) {
    const std::uint64_t site = reading::mixed(place_of(record) ^ reading::mixed(record.pc));
    return static_cast<std::uint32_t>(site >> 32) | 1;
}

} // namespace

std::uint64_t place_of(const abi::Record& record) {
    constexpr unsigned parts = abi::access_write | abi::access_size_mask << abi::access_size_shift;
    return abi::physical_address(record) << 8 | (record.access & parts);
}

void Repeats::add(const Event& event) {
    if (++site_ == sites_.size()) {
        std::copy(sites_.end() - (kept - 1), sites_.end(), sites_.begin());
        site_ = kept - 1;
    }
    sites_[site_] = site_of(event.record);
    if (events_.size() < kept) {
        newest_ = events_.size();
        if (newest_ == events_.capacity()) { // by itself it would take room for twice as many
            events_.reserve(std::min(kept, 2 * newest_ + 2));
        }
        events_.push_back(event);
    } else {
        newest_ = newest_ + 1 == kept ? 0 : newest_ + 1;
        events_[newest_] = event;
    }
}

void Repeats::clear() {
    site_ = kept - 1;
    std::fill_n(sites_.begin(), kept, 0);
    events_.clear();
}

unsigned Repeats::shortest_period() const {
    const std::uint32_t* const newest = &sites_[site_];
    for (int period = 1; period <= static_cast<int>(most_period); ++period) {
        if (newest[-period] == *newest &&
            std::equal(newest - period, newest, newest - 2 * period)) {
            return static_cast<unsigned>(period);
        }
    }
    return 0;
}

namespace {

constexpr unsigned stack_shift = 13; ///< of Linux's stacks of 8 KiB

} // namespace

bool Threads::follow(const abi::Record& record) {
    std::vector<std::uint16_t>& stack = interrupts_[record.cpu];
    const auto number = static_cast<std::uint16_t>(registers::interrupt_of(record.value));
    if (number >= registers::first_special_interrupt) {
        return false;
    }
    if (!abi::is_write(record)) {
        if (stack.size() < most_nested) {
            stack.push_back(number);
        }
        return true;
    }
    const auto last = std::find(stack.rbegin(), stack.rend(), number);
    if (last != stack.rend()) {
        stack.erase(last.base() - 1, stack.end());
    }
    return false;
}

Thread Threads::with(const Event& event) {
    const bool of_interrupt =
        event.record.type == abi::RecordType::access && event.interrupt_id() != no_id;
    const Thread before = of(event.record);
    if (of_interrupt) {
        follow(event.record);
    }
    return abi::is_write(event.record) ? before : of(event.record);
}

// A task keeps its stack wherever it runs. In User mode SP is the program's own, and `task` lies in
// the stack of the kernel (abi/record.hpp).
Thread Threads::of(const abi::Record& record) const {
    const std::vector<std::uint16_t>& stack = interrupts_[record.cpu];
    if (!stack.empty()) {
        return interrupt | Thread{stack.back()} << 8 | record.cpu;
    }
    return (trace::in_user_mode(record) ? record.task : record.sp) >> stack_shift;
}

} // namespace mmioscope::analysis
