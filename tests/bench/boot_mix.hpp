// A made-up trace with the mix of a boot, the same on every machine.
#pragma once

#include "system/file_descriptor.hpp"

#include <benchmark/benchmark.h>

#include <string>
#include <vector>

namespace mmioscope::bench {

/// A trace file in memory.
class BootMix {
public:
    /// 40,000 events of a boot (made_trace.hpp).
    BootMix();

    static constexpr unsigned events = 40'000;
    std::string path() const;
    std::vector<std::byte> bytes() const;

private:
    FileDescriptor file_;
};

/// The trace that all benchmarks read.
const BootMix& boot_mix();

/// Counts `each` events in each iteration: prints events per second and seconds per event.
void count_events(benchmark::State& state, unsigned each);

} // namespace mmioscope::bench
