// What linked libraries expect of a C environment.
#include "base/check.hpp"

#include <cstddef>
#include <cstdint>

extern "C" {

/// Takes words only where both places are aligned: the C library's takes words at any address,
/// which is an alignment fault while the MMU is off (ARM ARM A3.2.1). All others that are linked
/// are aligned; start.S turns alignment checking on, so that this holds in an emulator, too.
void* memcpy(void* to, const void* from, std::size_t size) {
    struct [[gnu::may_alias]] Four {
        std::uint32_t words[4]; // one LDM and one STM
    };
    using Word [[gnu::may_alias]] = std::uint32_t;
    auto* byte = static_cast<std::uint8_t*>(to);
    const auto* next = static_cast<const std::uint8_t*>(from);
    if (((reinterpret_cast<std::uintptr_t>(to) | reinterpret_cast<std::uintptr_t>(from)) & 3) ==
        0) {
        for (; size >= sizeof(Four);
             size -= sizeof(Four), next += sizeof(Four), byte += sizeof(Four))
            *reinterpret_cast<Four*>(byte) = *reinterpret_cast<const Four*>(next);
        for (; size >= sizeof(Word);
             size -= sizeof(Word), next += sizeof(Word), byte += sizeof(Word))
            *reinterpret_cast<Word*>(byte) = *reinterpret_cast<const Word*>(next);
    }
    for (; size != 0; --size) *byte++ = *next++;
    return to;
}

/// Called for a pure virtual function: a virtual table is damaged.
[[noreturn]] void __cxa_pure_virtual() {
    mmioscope::panic("pure virtual function called");
}
}

/// Virtual tables refer to deleting destructors, and these call it; nothing is ever allocated.
void operator delete(void*) noexcept {
    mmioscope::panic("operator delete called");
}
void operator delete(void*, unsigned int) noexcept {
    mmioscope::panic("operator delete called");
}
