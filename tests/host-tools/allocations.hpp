// Counts what a piece of code allocates on the heap: a bound that holds on every machine.
#pragma once

#include <atomic>
#include <cstddef>

// From <sanitizer/allocator_interface.h>, which GCC does not provide.
extern "C" int __sanitizer_install_malloc_and_free_hooks(void (*)(const volatile void*,
                                                                  std::size_t),
                                                         void (*)(const volatile void*));

namespace mmioscope::test {

class Allocations {
public:
    Allocations() {
        static const bool counted = __sanitizer_install_malloc_and_free_hooks(count, ignore) != 0;
        (void)counted;
        calls_ = all_calls;
        bytes_ = all_bytes;
    }

    /// Number since the constructor, whether freed or not.
    std::size_t calls() const { return all_calls - calls_; }
    std::size_t bytes() const { return all_bytes - bytes_; }

private:
    static void count(const volatile void*, std::size_t size) {
        ++all_calls;
        all_bytes += size;
    }
    static void ignore(const volatile void*) {}

    static inline std::atomic<std::size_t> all_calls = 0;
    static inline std::atomic<std::size_t> all_bytes = 0;
    std::size_t calls_;
    std::size_t bytes_;
};

} // namespace mmioscope::test
