#include "port/memory.hpp"

#include "port/barrier.hpp"
#include "port/sysreg.hpp"

namespace mmioscope::port {

void flush_to_coherency(PhysicalAddress begin, std::size_t size) {
    constexpr std::uint32_t line = 32; // the shortest line of the CPUs supported (Cortex-A7)
    const auto end = static_cast<std::uint32_t>(begin.value + size);
    for (auto a = static_cast<std::uint32_t>(begin.value) & ~(line - 1); a < end; a += line)
        write<reg::DCCIMVAC>(a);
    complete_all();
}

} // namespace mmioscope::port
