// Decodes what has arrived on a wire (abi/wire.hpp). Damage fails the test: no line here causes
// any.
#pragma once

#include "abi/record_codec.hpp"
#include "abi/wire.hpp"
#include "catch_2_or_3.hpp"
#include "start/crc32.hpp"

#include <cstring>
#include <memory>
#include <string>
#include <vector>

namespace mmioscope::sim {

using Bytes = std::vector<std::uint8_t>;

/// The frames on a wire, with COBS decoded, and CRCs checked and removed. Fails the test at damage.
inline std::vector<Bytes> frames_on(const Bytes& wire) {
    std::vector<Bytes> frames;
    for (std::size_t at = 0; at < wire.size();) {
        Bytes frame;
        const std::size_t begin = at;
        while (at < wire.size() && wire[at] != 0) {
            const std::size_t run = wire[at++] - 1u;
            REQUIRE(at + run < wire.size());
            frame.insert(frame.end(), wire.begin() + static_cast<long>(at),
                         wire.begin() + static_cast<long>(at + run));
            at += run;
            if (run != 254 && wire[at] != 0) frame.push_back(0);
        }
        if (at++ == begin) continue;
        REQUIRE(frame.size() > 4);
        const auto crc = frame.end() - 4;
        std::uint32_t sent = 0;
        std::memcpy(&sent, &*crc, 4);
        frames.emplace_back(frame.begin(), crc);
        REQUIRE(sent == crc32(frames.back().data(), frames.back().size()));
    }
    return frames;
}

inline abi::FrameHeader header_of(const Bytes& frame) {
    abi::FrameHeader header;
    std::memcpy(&header, frame.data(), sizeof header);
    return header;
}

inline std::vector<abi::Record> records_in(const Bytes& frame) {
    abi::RecordsHeader header;
    const std::size_t bits = sizeof(abi::FrameHeader) + sizeof header;
    std::memcpy(&header, frame.data() + sizeof(abi::FrameHeader), sizeof header);
    const auto model = std::make_unique<abi::RecordModel>();
    abi::Decoder decoder;
    decoder.start(frame.data() + bits, frame.size() - bits);
    abi::RecordCodec<abi::Decoder> codec(decoder, *model, header.time_shift);
    std::vector<abi::Record> records(header.count);
    for (abi::Record& record : records) codec.code(record);
    return records;
}

struct Arrived {
    std::vector<abi::Record> records;
    std::vector<abi::control::Reply> replies;
    std::vector<abi::Record> previous; ///< records of the previous boot
    std::vector<abi::KeptCpu> at_end;  ///< its CPUs
    std::string order; ///< of frames: h, r, e; H, R, E of the boot before; each once
    unsigned hellos{};
    unsigned ends{};
    abi::EndHeader end{};
    std::vector<std::uint32_t> others;             ///< with the end: RingHeader::others of each CPU
    std::vector<abi::UnfinishedAccess> unfinished; ///< that it names
};

/// What the end in `frame` names.
inline std::vector<abi::UnfinishedAccess> unfinished_in(const Bytes& frame) {
    abi::EndHeader end;
    std::memcpy(&end, frame.data() + sizeof(abi::FrameHeader), sizeof end);
    std::vector<abi::UnfinishedAccess> accesses;
    for (std::size_t at = sizeof(abi::FrameHeader) + sizeof end +
                          end.cpu_count * (sizeof(abi::Statistics) + sizeof(std::uint32_t));
         at < frame.size(); at += sizeof(abi::UnfinishedAccess)) {
        REQUIRE(frame.size() - at >= sizeof(abi::UnfinishedAccess));
        std::memcpy(&accesses.emplace_back(), frame.data() + at, sizeof(abi::UnfinishedAccess));
    }
    return accesses;
}

inline Arrived arrived(const Bytes& wire) {
    Arrived all;
    std::uint16_t sequence = 0;
    for (const Bytes& frame : frames_on(wire)) {
        const abi::FrameHeader header = header_of(frame);
        CHECK(header.sequence == sequence++);
        CHECK(frame.size() <= abi::max_frame - 4);
        const char letter = "?hreaHRE"[static_cast<unsigned>(header.type)];
        if (all.order.empty() || all.order.back() != letter) all.order += letter;
        switch (header.type) {
        case abi::FrameType::hello: ++all.hellos; break;
        case abi::FrameType::reply:
            std::memcpy(&all.replies.emplace_back(), frame.data() + sizeof header,
                        sizeof(abi::control::Reply));
            break;
        case abi::FrameType::previous_hello: break;
        case abi::FrameType::previous_records:
            for (const abi::Record& record : records_in(frame)) all.previous.push_back(record);
            break;
        case abi::FrameType::previous_end: {
            const std::size_t head = sizeof header + sizeof(abi::KeptEnd);
            all.at_end.resize((frame.size() - head) / sizeof(abi::KeptCpu));
            std::memcpy(all.at_end.data(), frame.data() + head,
                        all.at_end.size() * sizeof(abi::KeptCpu));
            break;
        }
        case abi::FrameType::end:
            ++all.ends;
            std::memcpy(&all.end, frame.data() + sizeof header, sizeof all.end);
            all.others.resize(all.end.cpu_count);
            std::memcpy(all.others.data(),
                        frame.data() + sizeof header + sizeof all.end +
                            all.others.size() * sizeof(abi::Statistics),
                        4 * all.others.size());
            all.unfinished = unfinished_in(frame);
            break;
        case abi::FrameType::records:
            for (const abi::Record& record : records_in(frame)) all.records.push_back(record);
            break;
        }
    }
    return all;
}

} // namespace mmioscope::sim
