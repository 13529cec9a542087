// What something costs, whatever else the machine does at the time.
#pragma once

#include <ctime>
#include <functional>

namespace mmioscope::test {

/// Seconds of the processor's time that `work` takes.
inline double cpu_seconds(const std::function<void()>& work) {
    const std::clock_t start = std::clock();
    work();
    return static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC;
}

} // namespace mmioscope::test
