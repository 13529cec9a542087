#include "linux/onlooker.hpp"

#include "records/module_table.hpp"

namespace mmioscope::linux_guest {

void Onlooker::see(std::span<const abi::Record> records, std::span<const trace::Run> runs,
                   trace::FileWriter& file) {
    if (!tasks_ || !tasks_->sound()) {
        tasks_.reset();
        if (const std::optional<Kernel> kernel = finder_.pass(KernelFinder::Clock::now())) {
            tasks_.emplace(*kernel, frequency_);
            modules_.emplace(*kernel, stacks_);
            callers_.emplace(*kernel, functions_, *modules_);
        }
    }
    if (tasks_) {
        write(records, runs, file);
    }
}

void Onlooker::write(std::span<const abi::Record> records, std::span<const trace::Run> runs,
                     trace::FileWriter& file) {
    tasks_found_.clear();
    tasks_->see(runs, tasks_found_);
    if (!tasks_found_.empty()) {
        file.values(trace::tasks_section, std::span<const trace::TaskEntry>(tasks_found_));
    }
    const ModuleWatch::Clock::time_point now = ModuleWatch::Clock::now();
    modules_->look_around(time_, now);
    const std::span<const trace::Caller> callers = callers_->see(runs, now); // finds new modules
    time_ = records.empty() ? time_ : records.back().time;
    if (const std::string modules = modules_->take_news(); !modules.empty()) {
        file.values(trace::modules_section, std::span(modules.data(), modules.size()));
    }
    if (!callers.empty()) {
        file.write_callers(records, callers);
    }
}

} // namespace mmioscope::linux_guest
