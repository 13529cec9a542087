// Records and trace files for tests.
#pragma once

#include "abi/container.hpp"
#include "abi/payload.hpp"
#include "catch_2_or_3.hpp"
#include "file/file_writer.hpp"
#include "system/file_descriptor.hpp"

#include <unistd.h>

#include <algorithm>
#include <cstddef>
#include <functional>
#include <string>
#include <vector>

namespace mmioscope::test {

/// A read of 4 bytes; tests change the fields that matter to them.
inline abi::Record access(unsigned cpu, std::uint32_t sequence, std::uint64_t time) {
    abi::Record record{};
    record.type = abi::RecordType::access;
    record.cpu = static_cast<std::uint8_t>(cpu);
    record.access = abi::encode_access(false, 2);
    record.mode = 0x13;
    record.time = time;
    record.duration = 1;
    record.cpu_sequence = sequence;
    record.lock_sequence = sequence;
    record.value = sequence;
    record.pc = 0xc000'0000 + sequence;
    record.pa_low = 0x1c09'0000;
    return record;
}

/// `owner` and behind it a payload of `size` bytes, which follow from the owner's number.
inline std::vector<abi::Record> group(abi::Record owner, std::size_t size) {
    std::vector<std::uint8_t> bytes(size);
    for (std::size_t i = 0; i < size; ++i) {
        bytes[i] = static_cast<std::uint8_t>((owner.cpu_sequence + i) * 7 + i / 251);
    }
    owner.flags |= size > 0 ? abi::flag_payload : 0;
    std::vector<abi::Record> all{owner};
    for (std::size_t at = 0; at < size; at += abi::piece_bytes) {
        const std::size_t here = std::min<std::size_t>(size - at, abi::piece_bytes);
        abi::Record piece = abi::next_piece(all.back());
        piece.commit = all.back().commit + 1;
        abi::set_bytes(piece, bytes.data() + at, here, at + here < size);
        all.push_back(piece);
    }
    return all;
}

inline abi::RegionEntry region(std::uint64_t base, std::uint64_t size, const std::string& path) {
    abi::RegionEntry entry{};
    entry.base = base;
    entry.size = size;
    path.copy(entry.path, sizeof entry.path - 1);
    return entry;
}

inline std::vector<std::byte> contents(int fd) {
    std::vector<std::byte> bytes(static_cast<std::size_t>(::lseek(fd, 0, SEEK_END)));
    REQUIRE(::pread(fd, bytes.data(), bytes.size(), 0) == static_cast<ssize_t>(bytes.size()));
    return bytes;
}

/// The bytes of a trace file with the content from `write`.
inline std::vector<std::byte> trace_bytes(const std::function<void(trace::FileWriter&)>& write) {
    const FileDescriptor file = memory_file("trace", 0);
    trace::WriteProgress progress;
    trace::FileWriter writer(file.get(), progress);
    write(writer);
    return contents(file.get());
}

inline void write_info(trace::FileWriter& writer, unsigned cpus = 2) {
    abi::Info info{};
    info.counter_frequency = 1'000'000;
    info.cpu_count = cpus;
    info.record_size = sizeof(abi::Record);
    info.region_size = sizeof(abi::RegionEntry);
    writer.values(abi::SectionType::info, std::span<const abi::Info>(&info, 1));
}

inline void write_regions(trace::FileWriter& writer, const std::vector<abi::RegionEntry>& all) {
    writer.values(abi::SectionType::regions, std::span<const abi::RegionEntry>(all));
}

} // namespace mmioscope::test
