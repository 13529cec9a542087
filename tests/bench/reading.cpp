// Decodes a trace file, and finds the names of its records.
#include "boot_mix.hpp"
#include "reading/trace.hpp"
#include "system/byte_source.hpp"

namespace {

using namespace mmioscope;
using bench::BootMix;

void decode(benchmark::State& state) {
    const std::vector<std::byte> bytes = bench::boot_mix().bytes();
    for (auto _ : state) {
        MemorySource source(bytes);
        trace::TraceReader reader(source, [](const std::string&) { std::abort(); });
        std::uint64_t sum = 0;
        for (auto records = reader.next(); !records.empty(); records = reader.next()) {
            for (const abi::Record& record : records) {
                sum += record.value;
            }
        }
        benchmark::DoNotOptimize(sum);
    }
    bench::count_events(state, BootMix::events);
}
BENCHMARK(decode)->Unit(benchmark::kMillisecond);

// Includes everything before the events, as at the start of each command.
void decode_and_name(benchmark::State& state, const std::string& filter) {
    reading::TraceOptions options;
    options.path = bench::boot_mix().path();
    options.filter = filter;
    for (auto _ : state) {
        reading::Trace trace(options);
        unsigned seen = 0;
        while (trace.next() != nullptr) {
            ++seen;
        }
        if (filter.empty() ? seen != BootMix::events : seen == 0) {
            state.SkipWithError("events are missing");
        }
    }
    bench::count_events(state, BootMix::events);
}
BENCHMARK_CAPTURE(decode_and_name, all, "")->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(decode_and_name, filtered, "dev==mmc && w")->Unit(benchmark::kMillisecond);

} // namespace
