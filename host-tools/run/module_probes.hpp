// Probes of modules' functions: set each time when the guest loads a module, before its init
// function runs.
#pragma once

#include "control/requests.hpp"
#include "linux/address_space.hpp"

#include <chrono>
#include <deque>
#include <set>
#include <string>
#include <vector>

namespace mmioscope::run {

class ModuleProbes {
public:
    /// `ram` is the guest's; the hypervisor's mailbox (abi/control.hpp) is in it at the physical
    /// address `mailbox`, and writable. `flags`: of each function's probe.
    ModuleProbes(const std::vector<std::string>& patterns, std::uint32_t flags,
                 std::span<std::byte> ram, std::uint64_t base, std::uint64_t mailbox);

    /// Answers a module that waits. Never waits for long.
    void pass();
    /// Says on standard error which patterns have had no function.
    void finish() const;

private:
    using Clock = std::chrono::steady_clock;

    void look_at(std::uint32_t module);
    bool answered();
    void send();

    std::vector<std::string> patterns_;
    std::set<std::string> used_; ///< there was such a function
    std::uint32_t flags_;
    linux_guest::PhysicalMemory memory_;
    volatile std::uint32_t* mailbox_;
    std::uint32_t module_ = 0; ///< that `asks_` are for; 0: none
    std::deque<control::Ask> asks_;
    std::size_t refused_ = 0; ///< of module_
    std::string name_;
    std::uint16_t id_ = 0;
};

} // namespace mmioscope::run
