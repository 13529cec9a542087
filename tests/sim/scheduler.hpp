// Decides who runs next. Every call into the port layer and every guest instruction is a point() at
// which another CPU may continue; a seed decides, so a run can be repeated exactly.
#pragma once

#include "fiber.hpp"
#include "random.hpp"

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace mmioscope::sim {

/// An error; thrown where it is detected, it ends the run.
struct Failure {
    std::string text;
};
/// Ends the task that throws it, like port::halt() for a CPU.
struct Halted {};

class Scheduler {
public:
    static constexpr unsigned nobody = ~0u;

    Scheduler(std::uint64_t seed, unsigned switch_one_in, std::uint64_t step_limit);
    ~Scheduler();

    /// Adds a task; the first ones are the CPUs. Also allowed during run().
    unsigned add(std::function<void()> body);

    /// Runs all tasks until they have ended, wait for each other, or one fails.
    void run();

    /// Another task may run here. Fails when the step limit is reached.
    void point();
    /// A point at which this task only waits for others.
    void wait();
    /// Ends the run for everyone, as when the machine is switched off.
    [[noreturn]] void stop();

    unsigned current() const { return current_; }
    bool ended(unsigned task) const { return tasks_[task]->ended; }
    std::uint64_t steps() const { return steps_; }
    Random& random() { return random_; }
    /// Empty if all is well.
    const std::string& failure() const { return failure_; }

private:
    struct Stopped {};
    struct Task {
        std::unique_ptr<Fiber> fiber;
        bool started{};
        bool ended{};
        std::uint64_t idle_since{~std::uint64_t{0}}; ///< value of progress_ at its last wait()
    };

    Fiber& perform(unsigned task, const std::function<void()>& body);
    void try_body(const std::function<void()>& body);
    void maybe_switch(bool certainly);
    void switch_to(unsigned task);
    unsigned pick();

    Random random_;
    unsigned switch_one_in_;
    std::uint64_t step_limit_;
    std::uint64_t steps_{};
    std::uint64_t progress_{};
    std::vector<std::unique_ptr<Task>> tasks_;
    std::vector<unsigned> ready_; ///< of pick(): what it found the last time
    std::unique_ptr<Fiber> main_;
    unsigned current_{nobody};
    bool stopping_{};
    std::string failure_;
};

} // namespace mmioscope::sim
