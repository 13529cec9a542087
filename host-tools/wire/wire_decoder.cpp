#include "wire/wire_decoder.hpp"

#include "abi/fold.hpp"
#include "abi/record_codec.hpp"

#include <algorithm>
#include <cstring>
#include <memory>

namespace mmioscope::wire {

namespace {

/// 64 MiB of records: the description follows within abi::hello_interval.
constexpr std::size_t max_early = 1u << 20;

template <typename T>
bool take_front(std::span<const std::uint8_t>& bytes, T& value) {
    if (bytes.size() < sizeof value) {
        return false;
    }
    std::memcpy(&value, bytes.data(), sizeof value);
    bytes = bytes.subspan(sizeof value);
    return true;
}

/// Appends the records of `fold`. False if that is impossible.
bool unfold(const abi::Record& fold, std::vector<abi::Record>& records) {
    if (records.empty() || fold.value == 0 || fold.value > abi::max_in_frame - records.size()) {
        return false;
    }
    const abi::Record before = records.back();
    if (before.type != abi::RecordType::access || before.cpu != fold.cpu) {
        return false;
    }
    for (std::uint32_t n = 1; n <= fold.value; ++n) {
        records.push_back(abi::unfolded(before, fold, n));
    }
    return true;
}

// Nothing if `payload` has no valid records.
std::optional<std::vector<abi::Record>> decode(std::span<const std::uint8_t> bits) {
    abi::RecordsHeader header;
    if (!take_front(bits, header) || header.time_shift > abi::max_time_shift) {
        return std::nullopt;
    }
    const auto model = std::make_unique<abi::RecordModel>();
    abi::Decoder decoder;
    decoder.start(bits.data(), bits.size());
    abi::RecordCodec<abi::Decoder> codec(decoder, *model, header.time_shift);
    std::vector<abi::Record> records;
    records.reserve(header.count);
    for (unsigned n = 0; n < header.count; ++n) {
        abi::Record record{};
        codec.code(record);
        if (record.type != abi::RecordType::fold) {
            records.push_back(record);
        } else if (!unfold(record, records)) {
            return std::nullopt;
        }
    }
    return records;
}

} // namespace

WireDecoder::WireDecoder(WireSink& sink)
    : sink_(sink),
      frames_([this](const abi::FrameHeader& header, Payload payload) { take(header, payload); }) {}

void WireDecoder::take(const abi::FrameHeader& header, Payload payload) {
    bool sense = true;
    switch (header.type) {
    case abi::FrameType::hello: sense = take_hello(header.boot, payload); break;
    case abi::FrameType::records: sense = take_records(header.boot, payload); break;
    case abi::FrameType::end: sense = take_end(header.boot, payload); break;
    case abi::FrameType::reply: sense = take_reply(payload); break;
    case abi::FrameType::previous_hello:
    case abi::FrameType::previous_records:
    case abi::FrameType::previous_end: sense = take_previous(header, payload); break;
    default: break; // from a later version
    }
    senseless_ += sense ? 0 : 1;
}

bool WireDecoder::take_hello(std::uint32_t boot, Payload payload) {
    if (boot_ == boot) {
        return true;
    }
    if (pieces_of_ != boot) {
        pieces_.clear();
        pieces_of_ = boot;
    }
    if (!pieces_.add(payload)) {
        return payload.size() > sizeof(abi::HelloHeader);
    }
    const std::optional<StreamHead> head = read_description(pieces_.bytes());
    pieces_.clear();
    if (!head) {
        return false;
    }
    boot_ = boot;
    kept_ = {};
    cpus_ = head->info.cpu_count;
    sink_.hello(*head);
    const bool sense = early_boot_ != boot || early_.empty() || hand_on(early_);
    early_.clear();
    return sense;
}

bool WireDecoder::take_records(std::uint32_t boot, Payload payload) {
    const std::optional<std::vector<abi::Record>> records = decode(payload);
    if (!records || boot_ == boot) {
        return records && hand_on(*records);
    }
    keep(boot, *records);
    return true;
}

// False if they are from CPUs that the boot does not have: then they are encoded differently.
bool WireDecoder::hand_on(std::span<const abi::Record> records) {
    for (const abi::Record& record : records) {
        if (record.cpu >= cpus_) {
            return false;
        }
    }
    sink_.records(records);
    return true;
}

void WireDecoder::keep(std::uint32_t boot, std::span<const abi::Record> records) {
    if (early_boot_ != boot) {
        early_.clear();
        early_boot_ = boot;
    }
    if (early_.size() + records.size() > max_early) {
        forgotten_ += records.size();
        return;
    }
    early_.insert(early_.end(), records.begin(), records.end());
}

bool WireDecoder::take_reply(Payload payload) {
    abi::control::Reply reply;
    if (!take_front(payload, reply) || reply.check != check_of(reply)) {
        return false;
    }
    sink_.reply(reply);
    return true;
}

bool WireDecoder::take_end(std::uint32_t boot, Payload payload) {
    abi::EndHeader end;
    if (!take_front(payload, end) || end.cpu_count > abi::max_cpus ||
        payload.size() != end.cpu_count * sizeof(abi::Statistics)) {
        return false;
    }
    std::vector<abi::Statistics> statistics(end.cpu_count);
    std::ranges::copy(std::as_bytes(payload),
                      std::as_writable_bytes(std::span(statistics)).begin());
    if (boot_ == boot) {
        sink_.end(end, statistics);
    }
    return true;
}

// The stream sends it once, after the description: a listener without the description missed it,
// too.
bool WireDecoder::take_previous(const abi::FrameHeader& header, Payload payload) {
    if (boot_ != header.boot) {
        return true;
    }
    if (header.type == abi::FrameType::previous_hello) {
        return kept_.add_hello(payload);
    }
    if (header.type == abi::FrameType::previous_records) {
        const std::optional<std::vector<abi::Record>> records = decode(payload);
        if (records) {
            kept_.add_records(*records);
        }
        return records.has_value();
    }
    const bool sense = kept_.add_end(payload);
    if (sense && kept_.whole()) {
        sink_.previous_boot(kept_.area().bytes());
    }
    kept_ = {};
    return sense;
}

} // namespace mmioscope::wire
