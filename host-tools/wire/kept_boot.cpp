#include "wire/kept_boot.hpp"

#include "system/crc.hpp"

#include <algorithm>
#include <cstring>

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

} // namespace mmioscope::wire
