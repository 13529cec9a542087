// Applies filters to events with names.
#include "filter/filter.hpp"

#include "../host-tools/given_event.hpp"
#include "boot_mix.hpp"
#include "system/byte_source.hpp"

#include <map>
#include <utility>

namespace {

using namespace mmioscope;
using bench::BootMix;

/// All events of the mix, with made-up names for what a real trace knows.
struct Named {
    std::vector<std::byte> bytes = bench::boot_mix().bytes();
    MemorySource source{bytes};
    trace::TraceReader reader{source, [](const std::string&) { std::abort(); }};
    Register data{"DR", 0x00, 4, "", {{"DATA", 0, 8, {}}}};
    Register flags{"FR", 0x18, 4, "", {{"BUSY", 3, 1, {}}, {"TXFF", 5, 1, {}}}};
    Location code{"pl011_console_putchar", 0x24, "", {}};
    std::map<std::pair<unsigned, bool>, Event> places; ///< as in a trace, a place has one id
    std::vector<Event> events;

    Named() {
        for (auto block = reader.next(); !block.empty(); block = reader.next()) {
            for (const abi::Record& record : block) {
                const auto [place, fresh] =
                    places.try_emplace({record.device, abi::is_write(record)});
                if (fresh) {
                    place->second = named(record);
                }
                events.emplace_back(place->second).record = record;
            }
        }
    }

    Event named(const abi::Record& record) {
        return test::given_event(
            record, {.device = reader.names()[record.device],
                     .offset = abi::physical_address(record) - reader.names().base(record.device),
                     .reg = record.device != 0      ? nullptr
                            : abi::is_write(record) ? &data
                                                    : &flags,
                     .code = &code});
    }
};

void filter_event(benchmark::State& state, const char* text) {
    static const Named named;
    filter::Filter filter(text);
    filter.bind(named.reader);
    for (auto _ : state) {
        unsigned kept = 0;
        for (const Event& event : named.events) {
            kept += filter(event) ? 1 : 0;
        }
        benchmark::DoNotOptimize(kept);
    }
    bench::count_events(state, BootMix::events);
}
BENCHMARK_CAPTURE(filter_event, write, "w");
BENCHMARK_CAPTURE(filter_event, device, "dev==mmc");
BENCHMARK_CAPTURE(filter_event, device_register_write, "dev==uart && reg==DR && w");
BENCHMARK_CAPTURE(filter_event, bits, "FR.TXFF==0");
BENCHMARK_CAPTURE(filter_event, glob, "func==pl011_*");
BENCHMARK_CAPTURE(filter_event, regex, "func =~ \"^pl011_.*char\"");
BENCHMARK_CAPTURE(filter_event, ranges, "time in 1..2 && value in (1..5, 0x90) && cpu==0");

} // namespace
