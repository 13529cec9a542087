// Exports a trace: what a format costs in addition to decoding and naming (reading.cpp).
#include "boot_mix.hpp"
#include "export/formats.hpp"
#include "reading/drive.hpp"

#include <unistd.h>

#include <filesystem>

namespace {

using namespace mmioscope;
using bench::BootMix;

void write_all(exporting::Exporter& exporter, benchmark::State& state) {
    reading::TraceOptions options;
    options.path = bench::boot_mix().path();
    reading::Trace trace(options);
    exporter.begin(trace.reader());
    reading::DriveOptions all;
    all.losses = reading::Losses::all;
    if (reading::drive(trace, {&exporter}, all).events != BootMix::events) {
        state.SkipWithError("events are missing");
    }
}

void export_jsonl(benchmark::State& state) {
    for (auto _ : state) {
        write_all(exporting::format_of("jsonl").open("/dev/null")->exporter(), state);
    }
    bench::count_events(state, BootMix::events);
}
BENCHMARK(export_jsonl)->Unit(benchmark::kMillisecond);

// It creates its folder itself, so the bytes go to the folder for temporary files.
void export_ctf(benchmark::State& state) {
    namespace fs = std::filesystem;
    const fs::path folder =
        fs::temp_directory_path() / fmt::format("mmioscope-bench-{}", ::getpid());
    for (auto _ : state) {
        write_all(*exporting::make_ctf(folder, folder.string()), state);
        state.PauseTiming();
        fs::remove_all(folder);
        state.ResumeTiming();
    }
    bench::count_events(state, BootMix::events);
}
BENCHMARK(export_ctf)->Unit(benchmark::kMillisecond);

} // namespace
