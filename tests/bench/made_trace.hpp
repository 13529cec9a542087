// Made-up traces for measurements: the same bytes on every machine, of any length.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace mmioscope::bench {

/// What the events are like.
enum class Mix {
    boot,  ///< a boot: mostly the console, and interrupts, SD card, others; with tasks and callers
    sd,    ///< SD card: unrolled loops that copy its FIFO, with the data they copy in LR, and no
           ///< callers found: very many different pairs of PC and LR
    fresh, ///< value, PC, LR, task and virtual page of each event as of no other
};

/// By its name above; nothing if there is none of that name.
std::optional<Mix> mix_of(std::string_view name);

/// Writes a trace file of so many accesses to `fd`, which must be empty: with a device tree that
/// all its devices are in, a few thousand functions, and a module. Throws Error.
void write_trace(int fd, Mix mix, std::uint64_t events);

} // namespace mmioscope::bench
