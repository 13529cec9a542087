// Measures costs, independent of other load on the machine.
#pragma once

#include <ctime>
#include <functional>

namespace mmioscope::test {

/// Seconds of CPU time that `work` takes.
inline double cpu_seconds(const std::function<void()>& work) {
    const std::clock_t start = std::clock();
    work();
    return static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC;
}

} // namespace mmioscope::test
