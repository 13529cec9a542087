#include "wire/wire_decoder.hpp"

#include "abi/fold.hpp"
#include "abi/record_codec.hpp"
#include "records/losses.hpp"
#include "system/crc.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

namespace mmioscope::wire {

namespace {

constexpr std::uint64_t ring_size =
    sizeof(abi::RingHeader) + abi::kept_records * sizeof(abi::Record);

} // namespace

AreaImage::AreaImage(std::size_t size)
    : pages_((size + sizeof(Page) - 1) / sizeof(Page) + (size == 0 ? 1 : 0)), size_(size) {}

AreaImage::AreaImage(std::span<const std::byte> bytes) : AreaImage(bytes.size()) {
    std::copy(bytes.begin(), bytes.end(), this->bytes().begin());
}

bool KeptBoot::add_hello(std::span<const std::uint8_t> payload) {
    if (!pieces_.add(payload)) {
        return payload.size() > sizeof(abi::HelloHeader);
    }
    head_ = read_description(pieces_.bytes());
    return head_.has_value();
}

void KeptBoot::add_records(std::span<const abi::Record> records) {
    constexpr std::size_t most = abi::max_cpus * abi::kept_records;
    const std::size_t count = std::min(records.size(), most - records_.size());
    records_.insert(records_.end(), records.begin(), records.begin() + static_cast<long>(count));
}

bool KeptBoot::add_end(std::span<const std::uint8_t> payload) {
    if (payload.size() < sizeof end_) {
        return false;
    }
    std::memcpy(&end_, payload.data(), sizeof end_);
    payload = payload.subspan(sizeof end_);
    if (end_.cpu_count == 0 || end_.cpu_count > abi::max_cpus ||
        payload.size() != end_.cpu_count * sizeof(abi::KeptCpu)) {
        return false;
    }
    cpus_.resize(end_.cpu_count);
    std::memcpy(cpus_.data(), payload.data(), payload.size());
    return true;
}

abi::AreaHeader KeptBoot::header() const {
    const abi::Info& info = head_->info;
    abi::AreaHeader header{};
    header.magic = abi::area_magic;
    header.version_major = abi::version_major;
    header.version_minor = abi::version_minor;
    header.header_size = sizeof header;
    header.area_base = head_->area_base;
    header.area_size = abi::area_head_size + end_.cpu_count * ring_size;
    std::copy(std::begin(info.boot_id), std::end(info.boot_id), header.boot_id);
    header.counter_frequency = info.counter_frequency;
    header.state = end_.state;
    header.engine = info.engine;
    header.policy = info.policy;
    header.cpu_count = end_.cpu_count;
    header.region_count = static_cast<std::uint32_t>(head_->regions.size());
    header.regions_offset = sizeof header;
    header.region_size = sizeof(abi::RegionEntry);
    header.record_size = sizeof(abi::Record);
    std::copy(std::begin(info.board), std::end(info.board), header.board);
    for (unsigned cpu = 0; cpu < end_.cpu_count; ++cpu) {
        header.ring_offset[cpu] = static_cast<std::uint32_t>(abi::area_head_size + cpu * ring_size);
    }
    header.description_crc = description_crc(header, head_->regions.data());
    return header;
}

// A record's commit word tells its position; it is one of the last below `head`.
void KeptBoot::place_ring(AreaImage& image, const abi::AreaHeader& header, unsigned cpu) const {
    const abi::KeptCpu& from = cpus_[cpu];
    std::byte* at = image.bytes().data() + header.ring_offset[cpu];
    auto& ring = *reinterpret_cast<abi::RingHeader*>(at);
    ring.magic = abi::ring_magic;
    ring.capacity = abi::kept_records;
    ring.cpu = cpu;
    ring.record_size = sizeof(abi::Record);
    ring.boot_number = from.boot_number;
    abi::set_position(ring, from.head);
    ring.next_sequence = from.next_sequence;
    ring.in_flight = from.in_flight;
    ring.in_flight_pc = from.in_flight_pc;
    ring.in_flight_time = from.in_flight_time;
    ring.in_flight_pa = from.in_flight_pa;
    ring.statistics = from.statistics;
    auto* slots = reinterpret_cast<abi::Record*>(&ring + 1);
    for (const abi::Record& record : records_) {
        const std::uint32_t behind =
            abi::commit_word(from.boot_number, from.head - 1) - record.commit;
        if (record.cpu == cpu && behind < std::min(abi::kept_records, from.head)) {
            slots[(from.head - 1 - behind) % abi::kept_records] = record;
        }
    }
}

AreaImage KeptBoot::area() const {
    const abi::AreaHeader head = header();
    AreaImage image(head.area_size);
    std::memcpy(image.bytes().data(), &head, sizeof head);
    std::memcpy(image.bytes().data() + sizeof head, head_->regions.data(),
                head_->regions.size() * sizeof(abi::RegionEntry));
    for (unsigned cpu = 0; cpu < head.cpu_count; ++cpu) {
        place_ring(image, head, cpu);
    }
    return image;
}

namespace {

/// 64 MiB of records: the description follows within abi::hello_interval.
constexpr std::size_t max_early = 1u << 20;

bool is_text(std::span<const std::uint8_t> piece) {
    return std::ranges::all_of(piece, [](std::uint8_t byte) {
        return (byte >= 0x20 && byte < 0x7f) || (byte >= '\a' && byte <= '\r') || byte == 0x1b;
    });
}

/// As far as `piece` goes, it begins as a frame does: with COBS' first length, type and version.
bool begins_as_frame(std::span<const std::uint8_t> piece) {
    return (piece.empty() || piece[0] > 2) &&
           (piece.size() < 2 ||
            piece[1] <= static_cast<std::uint8_t>(abi::FrameType::previous_end)) &&
           (piece.size() < 3 || piece[2] == abi::wire_version);
}

/// Whether `piece`, behind an end, may have been a frame of that boot. After a reset, or when the
/// sender was stopped, others may use the wire; before that, only texts are surely no frames.
bool may_be_frame(std::span<const std::uint8_t> piece, abi::StreamEnd end) {
    const bool others = end == abi::StreamEnd::machine_reset || end == abi::StreamEnd::stopped;
    return others ? begins_as_frame(piece) : piece.size() < 3 || !is_text(piece);
}

template <typename T>
bool read_front(std::span<const std::uint8_t>& bytes, T& value) {
    if (bytes.size() < sizeof value) {
        return false;
    }
    std::memcpy(&value, bytes.data(), sizeof value);
    bytes = bytes.subspan(sizeof value);
    return true;
}

/// Appends the records of `fold`, to at most max_in_frame, which `records` may have already. False
/// if that is impossible.
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

/// Nothing if `bits` have no valid records. `model`: its memory.
std::optional<std::vector<abi::Record>> decode(std::span<const std::uint8_t> bits,
                                               abi::RecordModel& model) {
    abi::RecordsHeader header;
    if (!read_front(bits, header) || header.time_shift > abi::max_time_shift) {
        return std::nullopt;
    }
    model.clear(); // less than making it anew: small frames have few of its sites
    abi::Decoder decoder;
    decoder.start(bits.data(), bits.size());
    abi::RecordCodec<abi::Decoder> codec(decoder, model, header.time_shift);
    std::vector<abi::Record> records;
    records.reserve(header.count);
    for (unsigned n = 0; n < header.count; ++n) {
        abi::Record record{};
        codec.code(record);
        const bool folded = record.type == abi::RecordType::fold;
        if (folded ? !unfold(record, records) : records.size() == abi::max_in_frame) {
            return std::nullopt;
        }
        if (!folded) {
            records.push_back(record);
        }
    }
    return records;
}

} // namespace

WireDecoder::WireDecoder(WireSink& sink)
    : sink_(sink), frames_([this](const abi::FrameHeader& header,
                                  Payload payload) { return read(header, payload); },
                           [this](Payload piece) { spoilt(piece); }) {}

Age WireDecoder::read(const abi::FrameHeader& header, Payload payload) {
    if (is_over(header.boot)) {
        return Age::stale;
    }
    bool sense = true;
    Age age = Age::unknown;
    switch (header.type) {
    case abi::FrameType::hello: sense = read_hello(header, payload, age); break;
    case abi::FrameType::records: sense = read_records(header, payload, age); break;
    case abi::FrameType::end: sense = read_end(header.boot, payload); break;
    case abi::FrameType::reply: sense = read_reply(payload); break;
    case abi::FrameType::previous_hello:
    case abi::FrameType::previous_records:
    case abi::FrameType::previous_end: sense = read_previous(header, payload); break;
    default: break; // from a later version
    }
    senseless_ += sense ? 0 : 1;
    return age;
}

bool WireDecoder::is_over(std::uint32_t boot) const {
    return std::ranges::find(over_, boot) != over_.end();
}

void WireDecoder::spoilt(Payload piece) {
    goes_on_ = goes_on_ || (ended_ && frames_.at_latest() && may_be_frame(piece, *ended_));
}

bool WireDecoder::read_hello(const abi::FrameHeader& header, Payload payload, Age& age) {
    const std::uint32_t boot = header.boot;
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
    Early early = early_.boot == boot ? std::exchange(early_, {}) : Early();
    begin(boot, *head);
    age = Age::first;
    // Before a description that goes back, there was a later capture.
    return frames_.goes_back(header) || hand_on(std::move(early));
}

// In the order in which the boot sent it.
bool WireDecoder::hand_on(Early early) {
    kept_ = std::move(early.kept);
    hand_on_previous();
    const bool sense = early.records.empty() || hand_on(early.records, false);
    if (early.end) {
        hand_on(*early.end);
    }
    return sense;
}

void WireDecoder::begin(std::uint32_t boot, const StreamHead& head) {
    sink_.hello(head);
    if (over_.size() == most_boots) {
        over_.erase(over_.begin());
    }
    if (boot_) {
        over_.push_back(*boot_);
    }
    boot_ = boot;
    cpus_ = head.info.cpu_count;
    first_time_ = {};
    returns_ = {};
    ended_.reset();
    goes_on_ = false;
    kept_.emplace();
}

bool WireDecoder::read_records(const abi::FrameHeader& header, Payload payload, Age& age) {
    std::optional<std::vector<abi::Record>> records = decode(payload, *model_);
    if (!records || records->empty()) {
        return records.has_value();
    }
    if (boot_ != header.boot) {
        keep(header.boot, *records);
        return true;
    }
    const bool sense = hand_on(*records, frames_.goes_back(header));
    age = !sense ? Age::unknown : records->empty() ? Age::stale : Age::fresh;
    return sense;
}

// Leaves those that were handed on. False if they are from CPUs that the boot does not have: then
// they are encoded differently.
bool WireDecoder::hand_on(std::vector<abi::Record>& records, bool late) {
    for (const abi::Record& record : records) {
        if (record.cpu >= cpus_) {
            return false;
        }
    }
    first_time_.keep_new(records, late);
    if (!records.empty()) {
        ended_.reset();
        goes_on_ = false;
        std::ranges::for_each(records, [this](abi::Record& r) { returns_.complete(r); });
        sink_.records(records);
    }
    return true;
}

WireDecoder::Early& WireDecoder::early_of(std::uint32_t boot) {
    if (early_.boot != boot) {
        forgotten_ += early_.records.size();
        early_ = {};
        early_.boot = boot;
    }
    return early_;
}

void WireDecoder::keep(std::uint32_t boot, std::span<const abi::Record> records) {
    Early& early = early_of(boot);
    early.end.reset();
    if (early.records.size() + records.size() > max_early) {
        forgotten_ += records.size();
        return;
    }
    early.records.insert(early.records.end(), records.begin(), records.end());
}

bool WireDecoder::read_reply(Payload payload) {
    abi::control::Reply reply;
    if (!read_front(payload, reply) || reply.check != check_of(reply)) {
        return false;
    }
    sink_.reply(reply);
    return true;
}

namespace {

/// Takes `cpus` numbers, unless the sender is older and has left them out.
void read_others(std::span<const std::uint8_t>& payload, std::vector<std::uint32_t>& others,
                 std::size_t cpus) {
    const std::size_t size = cpus * sizeof(std::uint32_t);
    if (payload.size() >= size && (payload.size() - size) % sizeof(abi::UnfinishedAccess) == 0) {
        others.resize(cpus);
        for (std::uint32_t& count : others) {
            read_front(payload, count);
        }
    }
}

} // namespace

bool WireDecoder::read_end(std::uint32_t boot, Payload payload) {
    End end;
    if (!read_front(payload, end.header) || end.header.cpu_count > abi::max_cpus) {
        return false;
    }
    end.statistics.resize(end.header.cpu_count);
    for (abi::Statistics& statistics : end.statistics) {
        if (!read_front(payload, statistics)) {
            return false;
        }
    }
    read_others(payload, end.others, end.header.cpu_count);
    for (abi::UnfinishedAccess access{}; read_front(payload, access);) {
        end.unfinished.push_back(access);
    }
    const bool known = std::ranges::all_of(
        end.unfinished, [&](const auto& access) { return access.cpu < end.header.cpu_count; });
    if (!payload.empty() || !known) {
        return false;
    }
    if (boot_ == boot) {
        hand_on(end);
    } else {
        early_of(boot).end = std::move(end);
    }
    return true;
}

void WireDecoder::hand_on(const End& end) {
    if (first_time_.pass(end.header)) {
        ended_ = end.header.reason;
        goes_on_ = false;
        if (!end.others.empty()) {
            sink_.others(end.others);
        }
        sink_.end(end.header, end.statistics);
        sink_.unfinished(end.unfinished);
    }
}

bool WireDecoder::read_previous(const abi::FrameHeader& header, Payload payload) {
    const bool here = boot_ == header.boot;
    if (here && !kept_) {
        return true;
    }
    KeptBoot& kept = here ? *kept_ : early_of(header.boot).kept;
    bool sense = true;
    if (header.type == abi::FrameType::previous_hello) {
        sense = kept.add_hello(payload);
    } else if (header.type == abi::FrameType::previous_records) {
        const std::optional<std::vector<abi::Record>> records = decode(payload, *model_);
        sense = records.has_value();
        if (records) {
            kept.add_records(*records);
        }
    } else {
        sense = kept.add_end(payload);
    }
    if (here) {
        hand_on_previous();
    }
    return sense;
}

// Once: description and end come twice.
void WireDecoder::hand_on_previous() {
    if (kept_->whole()) {
        sink_.previous_boot(kept_->area().bytes());
        kept_.reset();
    }
}

void FirstTime::keep_new(std::vector<abi::Record>& records, bool late) {
    std::erase_if(records, [this, late](const abi::Record& record) {
        Cpu& cpu = cpus_[record.cpu];
        if (cpu.has_passed(record.cpu_sequence) || (late && !cpu.any)) {
            return true;
        }
        cpu.any = true;
        trace::hole_at(cpu.next, record);
        return false;
    });
}

bool FirstTime::pass(const abi::EndHeader& end) {
    for (unsigned cpu = 0; cpu < end.cpu_count; ++cpu) {
        if (cpus_[cpu].has_passed(end.next_sequence[cpu])) {
            return false;
        }
    }
    for (unsigned cpu = 0; cpu < end.cpu_count; ++cpu) {
        cpus_[cpu] = {true, end.next_sequence[cpu]};
    }
    return true;
}

} // namespace mmioscope::wire
