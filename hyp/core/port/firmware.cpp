#include "port/firmware.hpp"

extern "C" void mmioscope_cpu_on_entry();

namespace mmioscope::port {

std::uint32_t call_firmware(std::uint32_t function, std::uint32_t a, std::uint32_t b,
                            std::uint32_t c) {
    register std::uint32_t r0 asm("r0") = function;
    register std::uint32_t r1 asm("r1") = a;
    register std::uint32_t r2 asm("r2") = b;
    register std::uint32_t r3 asm("r3") = c;
    // DSB: this CPU's writes are in memory before another CPU, or none, goes on.
    asm volatile(".arch_extension sec\n\tdsb\n\tsmc #0"
                 : "+r"(r0), "+r"(r1), "+r"(r2), "+r"(r3)
                 :
                 : "r12", "memory");
    return r0;
}

std::uint32_t cpu_on_entry() {
    return static_cast<std::uint32_t>(reinterpret_cast<std::uintptr_t>(&mmioscope_cpu_on_entry));
}

} // namespace mmioscope::port
