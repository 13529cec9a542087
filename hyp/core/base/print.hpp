// Text for the hypervisor's UART: no heap, no varargs, one character at a time.
#pragma once

#include <cstdint>

namespace mmioscope {

/// Where characters go. Implementations wait only for a limited time.
class TextSink {
public:
    virtual void put(char c) = 0;

protected:
    ~TextSink() = default;
};

/// `value` in hexadecimal after 0x, with at least `digits` digits.
struct Hex {
    std::uint64_t value;
    unsigned digits = 8;
};

void print_one(TextSink& out, const char* text);
void print_one(TextSink& out, Hex hex);
void print_one(TextSink& out, std::uint32_t decimal);

/// Prints its arguments one after the other; "\n" is sent as CR LF.
template <class... Args>
void print(TextSink& out, const Args&... args) {
    (print_one(out, args), ...);
}

} // namespace mmioscope
