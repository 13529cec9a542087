// A thread of control with its own stack, switched by hand. Tells ASan, which would otherwise take
// a stack switch for a stray pointer.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <ucontext.h>

namespace mmioscope::sim {

class Fiber {
public:
    /// The running fiber, on the thread's own stack.
    Fiber();
    /// Starts with the first switch to it. `body` returns the fiber to continue with for good.
    explicit Fiber(std::function<Fiber&()> body);
    Fiber(const Fiber&) = delete;
    Fiber& operator=(const Fiber&) = delete;

    /// Leaves this fiber, which must be running, until another one switches back.
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
