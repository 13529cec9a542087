// Stacks: an access of the kernel to a chosen device has a payload with r4 to r11 and the words at
// SP (abi/stack.hpp), by which a reader finds the functions that have called the one that made it.
// These accesses take the slow path; all others are as they were.
//
// The registers of a UART that the hypervisor shares have no stack: they have hooks of their own.
#pragma once

#include "abi/stack.hpp"
#include "engine/service.hpp"

namespace mmioscope {

class Stacks final : public Service, public AccessHooks {
public:
    BootError configure(Machine& machine, Setup& setup) override;

    /// Of a call that the guest makes; empty: it has none.
    Payload of_call(Cpu& cpu, const Frame& frame);
    /// The most that it takes.
    std::uint32_t records_of_call() const;

    std::optional<Outcome> before(Cpu& cpu, Frame& frame) override;
    void after(Cpu& cpu, Frame& frame) override;

private:
    struct Copy {
        abi::StackHead head;
        std::uint32_t words[abi::most_stack / 4];
    };
    static_assert(sizeof(Copy) == sizeof(abi::StackHead) + abi::most_stack); // one piece

    BootError choose(Machine& machine, const Setup& setup, const char* name);
    Payload copy(Cpu& cpu, const Frame& frame);

    std::uint32_t words_{abi::default_stack / 4}; ///< the most of one stack
    bool of_calls_{};
    Copy copies_[abi::max_cpus]{}; ///< by CPU: of the access that it makes
};

} // namespace mmioscope
