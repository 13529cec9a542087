#include "fiber.hpp"

#include <pthread.h>
#include <sanitizer/common_interface_defs.h>

// No-ops if the sanitizers are not linked in.
extern "C" {
[[gnu::weak]] void __sanitizer_start_switch_fiber(void**, const void*, std::size_t);
[[gnu::weak]] void __sanitizer_finish_switch_fiber(void*, const void**, std::size_t*);
}

namespace mmioscope::sim {

namespace {
void tell_start(void** kept, const void* bottom, std::size_t size) {
    if (__sanitizer_start_switch_fiber != nullptr)
        __sanitizer_start_switch_fiber(kept, bottom, size);
}
void tell_finish(void* kept) {
    if (__sanitizer_finish_switch_fiber != nullptr)
        __sanitizer_finish_switch_fiber(kept, nullptr, nullptr);
}

/// makecontext() cannot portably pass pointers, so the starting fiber is passed here.
Fiber* starting;
} // namespace

/// The thread's own. Asked once, because the C library reads /proc/self/maps for the answer.
Fiber::Fiber() {
    struct Stack {
        void* bottom{};
        std::size_t size{};
    };
    thread_local const Stack own = [] {
        Stack stack;
        pthread_attr_t attributes;
        pthread_getattr_np(pthread_self(), &attributes);
        pthread_attr_getstack(&attributes, &stack.bottom, &stack.size);
        pthread_attr_destroy(&attributes);
        return stack;
    }();
    bottom_ = own.bottom;
    size_ = own.size;
}

Fiber::Fiber(std::function<Fiber&()> body)
    : body_(std::move(body)), stack_(std::make_unique_for_overwrite<char[]>(stack_size)),
      bottom_(stack_.get()), size_(stack_size) {
    getcontext(&context_);
    context_.uc_stack.ss_sp = stack_.get();
    context_.uc_stack.ss_size = stack_size;
    makecontext(&context_, &Fiber::start, 0);
}

void Fiber::start() {
    tell_finish(nullptr);
    Fiber& self = *starting;
    Fiber& next = self.body_();
    self.leave(next, true);
}

void Fiber::leave(Fiber& other, bool for_good) {
    void* fake_stack = nullptr;
    starting = &other;
    tell_start(for_good ? nullptr : &fake_stack, other.bottom_, other.size_);
    swapcontext(&context_, &other.context_);
    tell_finish(fake_stack);
}

} // namespace mmioscope::sim
