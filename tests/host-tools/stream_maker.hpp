// Makes streams for tests, by hand and not with the hypervisor's code.
#pragma once

#include "abi/coded_size.hpp"
#include "abi/record_codec.hpp"
#include "abi/wire.hpp"
#include "system/crc.hpp"

#include <cstring>
#include <memory>
#include <string>
#include <vector>

namespace mmioscope::test {

using Wire = std::vector<std::byte>;

class StreamMaker {
public:
    explicit StreamMaker(std::uint32_t boot = 7) : boot_(boot) {}

    /// A frame, and the zero after it.
    void frame(abi::FrameType type, const std::vector<std::uint8_t>& payload) {
        std::vector<std::uint8_t> bytes;
        append(bytes, abi::FrameHeader{type, abi::wire_version, sequence_++, boot_});
        bytes.insert(bytes.end(), payload.begin(), payload.end());
        append(bytes, crc(std::as_bytes(std::span(bytes))));
        stuff(bytes);
    }

    void hello(const std::vector<abi::StreamRegion>& regions, const std::string& rests,
               unsigned time_shift = 0) {
        abi::Description description{};
        description.info.cpu_count = 2;
        description.info.counter_frequency = 1'000'000;
        description.info.record_size = sizeof(abi::Record);
        description.info.region_size = sizeof(abi::RegionEntry);
        description.info.boot_id[0] = static_cast<std::uint8_t>(boot_);
        description.region_count = static_cast<std::uint32_t>(regions.size());
        description.time_shift = time_shift;
        std::vector<std::uint8_t> bytes;
        append(bytes,
               static_cast<std::uint32_t>(
                   sizeof description + regions.size() * sizeof(abi::StreamRegion) + rests.size()));
        append(bytes, description);
        std::size_t at = 0;
        for (const abi::StreamRegion& region : regions) {
            append(bytes, region);
            bytes.insert(bytes.end(), rests.begin() + static_cast<long>(at),
                         rests.begin() + static_cast<long>(at + region.rest));
            at += region.rest;
        }
        description_ = bytes;
        pieces(bytes);
    }

    /// In pieces of abi::max_piece.
    void pieces(const std::vector<std::uint8_t>& description,
                abi::FrameType type = abi::FrameType::hello) {
        const std::size_t count = (description.size() + abi::max_piece - 1) / abi::max_piece;
        for (std::size_t i = 0; i < count; ++i) {
            std::vector<std::uint8_t> payload;
            append(payload, abi::HelloHeader{static_cast<std::uint16_t>(i),
                                             static_cast<std::uint16_t>(count),
                                             static_cast<std::uint32_t>(description.size())});
            const std::size_t end = std::min(description.size(), (i + 1) * abi::max_piece);
            payload.insert(payload.end(),
                           description.begin() + static_cast<long>(i * abi::max_piece),
                           description.begin() + static_cast<long>(end));
            frame(type, payload);
        }
    }

    void records(const std::vector<abi::Record>& records,
                 abi::FrameType type = abi::FrameType::records) {
        std::vector<std::uint8_t> payload;
        append(payload, abi::RecordsHeader{static_cast<std::uint16_t>(records.size()), 0, 0});
        std::vector<std::uint8_t> bits(abi::max_coded_record * records.size() + 8);
        const auto model = std::make_unique<abi::RecordModel>();
        abi::Encoder encoder;
        encoder.start(bits.data(), bits.size());
        abi::RecordCodec<abi::Encoder> codec(encoder, *model, 0);
        for (abi::Record record : records) {
            codec.code(record);
        }
        bits.resize(encoder.finish());
        payload.insert(payload.end(), bits.begin(), bits.end());
        frame(type, payload);
    }

    /// What was kept of a boot with the same description, which is sent twice, like the end.
    void previous(const std::vector<abi::Record>& kept, const std::vector<abi::KeptCpu>& cpus) {
        pieces(description_, abi::FrameType::previous_hello);
        constexpr std::size_t in_frame = 100;
        for (std::size_t at = 0; at < kept.size(); at += in_frame) {
            const auto from = kept.begin() + static_cast<long>(at);
            records({from, from + static_cast<long>(std::min(in_frame, kept.size() - at))},
                    abi::FrameType::previous_records);
        }
        std::vector<std::uint8_t> payload;
        append(payload,
               abi::KeptEnd{abi::AreaState::running, static_cast<std::uint32_t>(cpus.size())});
        for (const abi::KeptCpu& cpu : cpus) {
            append(payload, cpu);
        }
        frame(abi::FrameType::previous_end, payload);
        pieces(description_, abi::FrameType::previous_hello);
        frame(abi::FrameType::previous_end, payload);
    }

    void end(std::uint32_t next_of_cpu0, std::uint32_t next_of_cpu1,
             abi::StreamEnd reason = abi::StreamEnd::machine_off,
             const std::vector<abi::UnfinishedAccess>& unfinished = {},
             const std::vector<std::uint32_t>& others = {}) {
        std::vector<std::uint8_t> payload;
        append(payload, abi::EndHeader{reason, 2, {next_of_cpu0, next_of_cpu1}});
        append(payload, abi::Statistics{});
        append(payload, abi::Statistics{});
        for (const std::uint32_t count : others) {
            append(payload, count);
        }
        for (const abi::UnfinishedAccess& access : unfinished) {
            append(payload, access);
        }
        frame(abi::FrameType::end, payload);
    }

    const Wire& wire() const { return wire_; }
    const std::vector<std::uint8_t>& description() const { return description_; }

    template <typename T>
    static void append(std::vector<std::uint8_t>& to, const T& value) {
        const auto* bytes = reinterpret_cast<const std::uint8_t*>(&value);
        to.insert(to.end(), bytes, bytes + sizeof value);
    }

private:
    // COBS, the slow way: cut at zeros, and at runs of 254.
    void stuff(const std::vector<std::uint8_t>& bytes) {
        if (wire_.empty()) {
            wire_.push_back(std::byte{0});
        }
        std::vector<std::uint8_t> run;
        const auto put_run = [&] {
            wire_.push_back(static_cast<std::byte>(run.size() + 1));
            for (const std::uint8_t byte : run) {
                wire_.push_back(static_cast<std::byte>(byte));
            }
            run.clear();
        };
        for (const std::uint8_t byte : bytes) {
            if (byte == 0) {
                put_run();
                continue;
            }
            run.push_back(byte);
            if (run.size() == 254) {
                put_run();
            }
        }
        put_run();
        wire_.push_back(std::byte{0});
    }

    std::uint32_t boot_;
    std::uint16_t sequence_ = 0;
    Wire wire_;
    std::vector<std::uint8_t> description_;
};

} // namespace mmioscope::test
