// Finds the last accesses of a boot in memory: a RAM dump, or what one boot kept of the previous
// one. All of it is checked before use.
#pragma once

#include "rings/area.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace mmioscope::blackbox {

/// The area in `memory`, which stays the caller's; nothing unless it holds together and has the
/// checksum of its description.
std::optional<rings::Area> sound_area(std::span<std::byte> memory);

/// A trace area in a RAM image.
struct FoundArea {
    std::uint64_t offset; ///< in the image
    rings::Area area;
};

/// The first area in `image` that holds together and has the checksum of its description; it lies
/// on a page boundary. `base`: the physical address of the image's first byte; then the area must
/// say that it lies there, too.
std::optional<FoundArea> find_area(std::span<std::byte> image, std::optional<std::uint64_t> base);

/// The device tree of that boot, if it is still in `image`; else empty.
std::span<const std::byte> tree_of(const FoundArea& found, std::span<std::byte> image);

/// What the boot of the area in `memory` has kept of the one before; nothing if it kept none, or
/// what it kept does not hold together.
std::optional<rings::Area> previous_boot(const rings::Area& area, std::span<std::byte> memory);

/// An access that a CPU had begun and not ended. Without begin records only `time`, `pc`, the
/// address and `device` of `record` are known.
struct Unfinished {
    abi::Record record;
    bool described; ///< by a begin record
};

struct LastAccesses {
    std::vector<Unfinished> unfinished;
    std::vector<abi::Record> records; ///< in the order of time; no begin records
    std::uint64_t damaged = 0;        ///< records left out: their slots do not hold them whole
};

/// The last `count` records of all CPUs of `area`, and what was unfinished then.
LastAccesses last_accesses(const rings::Area& area, std::uint64_t count);

} // namespace mmioscope::blackbox
