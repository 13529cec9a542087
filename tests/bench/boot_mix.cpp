#include "boot_mix.hpp"

#include "made_trace.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <cstdlib>

namespace mmioscope::bench {

BootMix::BootMix() : file_(memory_file("boot-mix", 0)) {
    write_trace(file_.get(), Mix::boot, events);
}

std::string BootMix::path() const {
    return fmt::format("/proc/self/fd/{}", file_.get());
}

std::vector<std::byte> BootMix::bytes() const {
    std::vector<std::byte> all(static_cast<std::size_t>(::lseek(file_.get(), 0, SEEK_END)));
    if (::pread(file_.get(), all.data(), all.size(), 0) != static_cast<ssize_t>(all.size())) {
        std::abort();
    }
    return all;
}

const BootMix& boot_mix() {
    static const BootMix mix;
    return mix;
}

void count_events(benchmark::State& state, unsigned each) {
    using benchmark::Counter;
    const double count = static_cast<double>(state.iterations()) * each;
    state.counters["events/s"] = Counter(count, Counter::kIsRate);
    state.counters["s/event"] = Counter(count, Counter::kIsRate | Counter::kInvert);
}

} // namespace mmioscope::bench
