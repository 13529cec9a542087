#include "linux/onlooker.hpp"

namespace mmioscope::linux_guest {

void Onlooker::see(std::span<const abi::Record> records, trace::FileWriter& file) {
    if (!tasks_ || !tasks_->sound()) {
        tasks_.reset();
        if (const std::optional<Kernel> kernel = finder_.pass(KernelFinder::Clock::now())) {
            tasks_.emplace(*kernel, frequency_);
        }
    }
    if (tasks_ && !records.empty()) {
        entries_.clear();
        tasks_->see(records, entries_);
        if (!entries_.empty()) {
            file.values(trace::tasks_section, std::span<const trace::TaskEntry>(entries_));
        }
    }
}

} // namespace mmioscope::linux_guest
