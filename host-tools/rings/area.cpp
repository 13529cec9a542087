#include "rings/area.hpp"

#include "rings/shared.hpp"
#include "system/error.hpp"

#include <algorithm>

namespace mmioscope::rings {

namespace {

Error broken(const char* what) {
    return failure("the trace area is damaged: {}", what);
}

} // namespace

bool Area::ready(std::span<const std::byte> memory) {
    if (memory.size() < abi::area_head_size) {
        return false;
    }
    const auto* header = reinterpret_cast<const volatile abi::AreaHeader*>(memory.data());
    if (header->magic != abi::area_magic || header->state == abi::AreaState::starting) {
        return false;
    }
    shared::order();
    return true;
}

// The hypervisor removes the magic before it changes anything else.
std::optional<BootId> Area::boot_in(std::span<const std::byte> memory) {
    if (!ready(memory)) {
        return std::nullopt;
    }
    BootId id;
    const auto* header = reinterpret_cast<const abi::AreaHeader*>(memory.data());
    shared::copy(id.data(), header->boot_id, sizeof id);
    shared::order();
    return ready(memory) ? std::optional(id) : std::nullopt;
}

Area::Area(std::span<std::byte> memory) {
    shared::copy(&header_, memory.data(), sizeof header_);
    if (header_.header_size < sizeof header_) { // an older minor version: missing fields are zero
        auto* bytes = reinterpret_cast<std::byte*>(&header_);
        std::fill(bytes + header_.header_size, bytes + sizeof header_, std::byte{});
    }
    check_header(memory.size());
    read_regions(memory);
    for (unsigned cpu = 0; cpu < header_.cpu_count; ++cpu) {
        add_ring(memory, cpu);
    }
}

void Area::check_header(std::size_t size) const {
    if (header_.version_major != abi::version_major) {
        throw failure(
            "the hypervisor's trace area has version {}.{}; this program reads version {}",
            header_.version_major, header_.version_minor, abi::version_major);
    }
    if (header_.record_size != sizeof(abi::Record) ||
        header_.region_size != sizeof(abi::RegionEntry)) {
        throw broken("wrong size of records");
    }
    if (header_.area_size > size) {
        throw broken("it is larger than its memory");
    }
    if (header_.cpu_count == 0 || header_.cpu_count > abi::max_cpus) {
        throw broken("wrong number of CPUs");
    }
    if (header_.counter_frequency == 0) {
        throw failure("CNTFRQ is 0, so the trace has no times: the boot loader must set it on each "
                      "CPU (U-Boot: COUNTER_FREQUENCY)");
    }
}

void Area::read_regions(std::span<const std::byte> memory) {
    const std::uint64_t bytes = std::uint64_t{header_.region_count} * sizeof(abi::RegionEntry);
    if (header_.region_count > abi::max_regions || header_.regions_offset > abi::area_head_size ||
        bytes > abi::area_head_size - header_.regions_offset) {
        throw broken("the region table is too large");
    }
    if (header_.regions_offset % alignof(abi::RegionEntry) != 0) {
        throw broken("the region table is not aligned");
    }
    regions_.resize(header_.region_count);
    if (regions_.empty()) {
        return;
    }
    shared::copy(regions_.data(), memory.data() + header_.regions_offset,
                 static_cast<std::size_t>(bytes));
}

void Area::add_ring(std::span<std::byte> memory, unsigned cpu) {
    const std::uint64_t offset = header_.ring_offset[cpu];
    const std::uint64_t size = std::min<std::uint64_t>(memory.size(), header_.area_size);
    if (offset % alignof(abi::RingHeader) != 0 || offset + sizeof(abi::RingHeader) > size) {
        throw broken("wrong offset of a ring buffer");
    }
    std::byte* base = memory.data() + offset;
    auto* header = reinterpret_cast<abi::RingHeader*>(base);
    const std::uint64_t capacity = shared::load(header->capacity);
    const std::uint64_t room = (size - offset - sizeof(abi::RingHeader)) / sizeof(abi::Record);
    if (header->magic != abi::ring_magic || header->record_size != sizeof(abi::Record) ||
        capacity == 0 || capacity > room) {
        throw broken("the header of a ring buffer is not valid");
    }
    const auto* records = reinterpret_cast<const abi::Record*>(base + sizeof(abi::RingHeader));
    rings_.push_back({header, records, capacity, shared::load(header->boot_number),
                      header_.area_base + offset + sizeof(abi::RingHeader)});
}

std::vector<abi::Statistics> Area::statistics() const {
    std::vector<abi::Statistics> all;
    for (const Ring& ring : rings_) {
        shared::copy(&all.emplace_back(), &ring.header->statistics, sizeof(abi::Statistics));
    }
    return all;
}

abi::Info Area::info() const {
    abi::Info info{};
    info.counter_frequency = header_.counter_frequency;
    info.cpu_count = header_.cpu_count;
    info.engine = header_.engine;
    info.policy = header_.policy;
    info.record_size = header_.record_size;
    info.region_size = header_.region_size;
    std::copy(std::begin(header_.boot_id), std::end(header_.boot_id), info.boot_id);
    std::copy(std::begin(header_.board), std::end(header_.board), info.board);
    return info;
}

} // namespace mmioscope::rings
