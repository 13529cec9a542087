// Searches RAM for a kernel piece by piece, so that a running recording never waits long.
#pragma once

#include "linux/task_layout.hpp"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace mmioscope::linux_guest {

class KernelFinder {
public:
    using Clock = std::chrono::steady_clock;

    explicit KernelFinder(const PhysicalMemory& memory) : memory_(memory) {}

    /// Searches the next piece if it is due. After each full turn without success the pause before
    /// the next one grows, up to a second.
    std::optional<Kernel> pass(Clock::time_point now);

    /// Searches all RAM at once.
    std::optional<Kernel> find();

private:
    std::optional<Kernel> candidates();
    void scan(std::size_t from, std::size_t size);
    void add_name(std::uint64_t at);

    PhysicalMemory memory_;
    std::size_t next_ = 0;
    Clock::time_point not_before_{};
    std::chrono::milliseconds pause_{10};
    std::vector<std::uint64_t> names_; ///< where this turn and the previous one found "swapper/0"
    std::size_t turn_ = 0;             ///< passes, modulo its range
};

} // namespace mmioscope::linux_guest
