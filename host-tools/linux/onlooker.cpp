#include "linux/onlooker.hpp"

#include "lib/module_table.hpp"

namespace mmioscope::linux_guest {

void Onlooker::see(std::span<const abi::Record> records, trace::FileWriter& file) {
    if (!tasks_ || !tasks_->sound()) {
        tasks_.reset();
        if (const std::optional<Kernel> kernel = finder_.pass(KernelFinder::Clock::now())) {
            tasks_.emplace(*kernel, frequency_);
            modules_.emplace(*kernel);
        }
    }
    if (tasks_) {
        tell(records, file);
    }
}

void Onlooker::tell(std::span<const abi::Record> records, trace::FileWriter& file) {
    entries_.clear();
    tasks_->see(records, entries_);
    if (!entries_.empty()) {
        file.values(trace::tasks_section, std::span<const trace::TaskEntry>(entries_));
    }
    const std::string modules = modules_->see(records, ModuleWatch::Clock::now());
    if (!modules.empty()) {
        file.values(trace::modules_section, std::span(modules.data(), modules.size()));
    }
}

} // namespace mmioscope::linux_guest
