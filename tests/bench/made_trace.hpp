// Made-up traces for measurements: the same bytes on every machine, of any length.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace mmioscope::bench {

/// The mix of events.
enum class Mix {
    boot,  ///< a boot: mostly the console, and interrupts, SD card, others; with tasks and callers
    sd,    ///< SD card: unrolled loops that copy its FIFO, with the data they copy in LR, and no
           ///< callers found: very many different pairs of PC and LR
    fresh, ///< value, PC, LR, task and virtual page differ in every event
};

/// The mix of this name; nothing if there is none.
std::optional<Mix> mix_of(std::string_view name);

/// Writes a trace file with `events` accesses to `fd`, which must be empty: with a device tree of
/// all its devices, a few thousand functions, and a module. Throws Error.
void write_trace(int fd, Mix mix, std::uint64_t events);

} // namespace mmioscope::bench
