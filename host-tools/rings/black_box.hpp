// Finds the last accesses of a boot in memory: a RAM dump, or what one boot kept of the previous
// one. Checks everything before use.
#pragma once

#include "abi/record.hpp"
#include "rings/area.hpp"
#include "system/byte_source.hpp"
#include "system/file_descriptor.hpp"
#include "wire/wire_decoder.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace mmioscope::rings {

/// The area in `memory`, which the caller owns. Nothing if the area is inconsistent or the checksum
/// of its description is wrong.
std::optional<rings::Area> sound_area(std::span<std::byte> memory);

/// A trace area in a RAM image.
struct FoundArea {
    std::uint64_t offset; ///< in the image
    rings::Area area;
};

/// The first consistent area in `image` on a page boundary whose description has the right
/// checksum. `base` is the physical address of the image's first byte; if given, the area's own
/// address must agree with it. Calls `passed` as it searches. Throws Error (failed) if there are
/// only areas of another version.
std::optional<FoundArea> find_area(
    std::span<std::byte> image, std::optional<std::uint64_t> base,
    const Passed& passed = [](std::size_t) {});

/// The device tree of that boot; empty if it is not in `image` any more.
std::span<const std::byte> tree_of(const FoundArea& found, std::span<std::byte> image);

/// What the boot of the area in `memory` kept of the previous boot. Nothing if it kept none, or if
/// that is inconsistent.
std::optional<rings::Area> previous_boot(const rings::Area& area, std::span<std::byte> memory);

/// An access that a CPU began and did not end. Without begin records, only `time`, `pc`, the
/// address and `device` of `record` are known.
struct Unfinished {
    abi::Record record;
    bool described; ///< has a begin record
};

struct LastAccesses {
    std::vector<Unfinished> unfinished;
    std::vector<abi::Record> records; ///< in the order of time, without begin records
    std::uint64_t damaged = 0;        ///< records left out because their slots are incomplete
    std::uint64_t broken = 0;         ///< payloads of which only a part is there (abi/payload.hpp)
};

/// The last `count` records of all CPUs of `area`, and the accesses that were unfinished then.
LastAccesses last_accesses(const rings::Area& area, std::uint64_t count);

// The content of a machine's RAM: a dump, or the file behind the RAM of a QEMU that runs or has
// ended.

class RamImage {
public:
    /// Maps the file `path` read-only. First copies zstd data, a pipe or standard input ("-") into
    /// a temporary file. A file that contains a trace area is taken as not compressed, whatever its
    /// first bytes are. Calls `passed` as it copies. Throws Error (bad_input) that names the file.
    explicit RamImage(
        const std::string& path, const Passed& passed = [](std::size_t) {});
    ~RamImage();
    RamImage(const RamImage&) = delete;
    RamImage& operator=(const RamImage&) = delete;

    std::span<std::byte> bytes() const { return bytes_; }

private:
    RamImage(const FileDescriptor& file, const std::string& path);
    static FileDescriptor open(const std::string& path, const Passed& passed);

    std::span<std::byte> bytes_;
};

// The previous boot that a trace file or a stream contains in addition to its own.

struct RecordedBoot {
    wire::AreaImage area;        ///< unchecked: see sound_area()
    std::vector<std::byte> tree; ///< for device names
};

bool is_trace_file(std::span<const std::byte> bytes);

/// The previous boot in a whole trace file. Nothing if it has none. Throws Error (bad_input) if it
/// has a newer version.
std::optional<RecordedBoot> previous_boot_in_file(std::span<const std::byte> bytes);

/// The last previous boot in a stream. Nothing if it has none. Throws Error (bad_input) if it has a
/// newer version. Calls `passed` as it searches.
std::optional<RecordedBoot> previous_boot_in_stream(
    std::span<const std::byte> bytes, const Passed& passed = [](std::size_t) {});

// Makes a trace from records in memory, so that they get filters and names like those of any trace.

/// A file in memory, positioned at its start, with the description of `area`, from which the
/// records come, and the device tree of its boot (empty: unknown).
FileDescriptor as_trace(const rings::Area& area, std::span<const std::byte> tree,
                        std::span<const abi::Record> records);

} // namespace mmioscope::rings
