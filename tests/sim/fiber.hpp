// A thread of control with a stack of its own, switched by hand. Told to ASan, which otherwise
// takes a switch of stacks for a stray pointer.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <ucontext.h>

namespace mmioscope::sim {

class Fiber {
public:
    /// The one that runs now, on the stack the thread was given.
    Fiber();
    /// Starts with the first switch to it. `body` returns the fiber to go on with for good.
    explicit Fiber(std::function<Fiber&()> body);
    Fiber(const Fiber&) = delete;
    Fiber& operator=(const Fiber&) = delete;

    /// Leaves this fiber, which must be the running one, until someone switches back.
    void switch_to(Fiber& other) { leave(other, false); }

private:
    static constexpr std::size_t stack_size = 256 * 1024;

    static void start();
    void leave(Fiber& other, bool for_good);

    std::function<Fiber&()> body_;
    std::unique_ptr<char[]> stack_;
    const void* bottom_{};
    std::size_t size_{};
    ucontext_t context_{};
};

} // namespace mmioscope::sim
