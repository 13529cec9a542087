#include "start/area.hpp"

#include "abi/description.hpp"
#include "engine/service.hpp"
#include "machine/machine.hpp"
#include "port/barrier.hpp"
#include "port/memory.hpp"
#include "port/sysreg.hpp"
#include "start/crc32.hpp"

#include <cstring>

namespace mmioscope {

namespace {

/// Flags that are known only when it is decided what to trace.
std::uint16_t final_flags(const Machine& machine, const abi::RegionEntry& region) {
    std::uint16_t flags = region.flags;
    for (const Span& span : machine.map) {
        if (!span.range.overlaps(range_of(region)) || &machine.regions[span.region] != &region)
            continue;
        if (span.traced()) flags |= abi::region_traced;
        if (span.mapped == Mapped::in_steps) flags |= abi::region_machine;
        if (span.is_withheld()) flags |= abi::region_hypervisor;
    }
    return flags;
}

/// Clears the headers only: the previous boot's records have other commit words (abi/ring.hpp).
/// Clears everything if the previous boot's slots may have been at other places, or if nobody has
/// looked.
void clear(std::uint8_t* area, Range where, const AreaLayout& layout, unsigned cpus,
           std::optional<abi::Kept> kept) {
    if (kept != abi::Kept::kept && kept != abi::Kept::none) {
        std::memset(area, 0, static_cast<std::size_t>(where.size()));
        return;
    }
    std::memset(area, 0, abi::area_head_size);
    for (unsigned i = 0; i < cpus; ++i)
        std::memset(area + layout.ring_offset(i), 0, sizeof(abi::RingHeader));
}

/// Differs from boot to boot: made from the counter and the previous boot's id.
void make_boot_id(std::uint8_t (&id)[16], const std::uint8_t (&previous)[16]) {
    std::uint64_t half[2];
    std::memcpy(half, previous, sizeof half);
    half[0] = half[0] * 6364136223846793005u + port::read<reg::CNTPCT>();
    half[1] = (half[1] ^ half[0]) * 2862933555777941757u + 3037000493u;
    std::memcpy(id, half, sizeof id);
}

std::optional<abi::Kept> keep(Machine& machine, Range where, const AreaLayout& layout) {
    for (Service* service : machine.services)
        if (const auto kept = service->keep(where, layout, machine.cpu_count)) return kept;
    return {};
}

} // namespace

void RingWriter::start(abi::RingHeader& header, std::uint32_t cpu, std::uint64_t capacity,
                       abi::Policy policy, bool host_reader) {
    header_ = &header;
    slots_ = reinterpret_cast<abi::Record*>(&header + 1);
    capacity_ = static_cast<std::uint32_t>(capacity);
    boot_number_ = header.boot_number;
    cpu_ = static_cast<std::uint8_t>(cpu);
    policy_ = policy;
    header.capacity = capacity;
    header.cpu = cpu;
    header.record_size = sizeof(abi::Record);
    header.readers[abi::host_reader].active = host_reader ? 1 : 0;
    header.magic = abi::ring_magic;
}

std::uint32_t description_crc(const abi::AreaHeader& area, std::uint32_t regions) {
    abi::AreaHeader header = area;
    header.region_count = regions;
    return abi::description_crc(
        header, reinterpret_cast<const abi::RegionEntry*>(&area + 1),
        [](const void* bytes, std::size_t size, std::uint32_t before) {
            return crc32_end(
                crc32_more(crc32_end(before), static_cast<const std::uint8_t*>(bytes), size));
        });
}

void make_area(Machine& machine, Range where) {
    auto* bytes = port::memory_at<std::uint8_t>({where.begin});
    auto* header = reinterpret_cast<abi::AreaHeader*>(bytes);
    std::uint8_t boot_id[16];
    // A previous user of this memory may have cached it; no such line may be written back over what
    // follows.
    if (machine.config.guest_reader)
        port::flush_to_coherency({where.begin}, static_cast<std::size_t>(where.size()));
    make_boot_id(boot_id, header->boot_id);
    const std::uint32_t boot_number = header->boot_number + 1;
    const AreaLayout layout(where.size(), machine.cpu_count);
    const std::optional<abi::Kept> kept = keep(machine, where, layout);
    // From here on no reader takes the area for the previous boot's.
    port::store_shared(header->magic, 0);
    port::complete_system();
    clear(bytes, where, layout, machine.cpu_count, kept);
    std::memcpy(header->boot_id, boot_id, sizeof boot_id);
    header->boot_number = boot_number;

    machine.area = header;
    header->version_major = abi::version_major;
    header->version_minor = abi::version_minor;
    header->header_size = sizeof(abi::AreaHeader);
    header->area_base = where.begin;
    header->area_size = where.size();
    header->counter_frequency = port::read<reg::CNTFRQ>();
    header->engine = machine.config.engine;
    header->policy = machine.config.policy;
    header->cpu_count = machine.cpu_count;
    header->record_size = sizeof(abi::Record);
    header->kept = kept.value_or(abi::Kept::none);
    header->kept_offset = static_cast<std::uint32_t>(layout.kept_offset);
    header->kept_size = static_cast<std::uint32_t>(layout.kept_size);
    for (unsigned i = 0; i < machine.cpu_count; ++i) {
        machine.cpus[i].ring.obey(machine.chooser);
        header->ring_offset[i] = static_cast<std::uint32_t>(layout.ring_offset(i));
        auto* ring = reinterpret_cast<abi::RingHeader*>(bytes + layout.ring_offset(i));
        ring->boot_number = boot_number;
        machine.cpus[i].ring.start(*ring, i, layout.capacity(), machine.config.policy,
                                   machine.config.host_reader);
        // The ring waits for this reader from the first record on, so the reader also gets the
        // guest's boot.
        if (machine.config.guest_reader) ring->readers[abi::drain_reader].active = 1;
    }
}

void publish_area(Machine& machine, Range guest_tree) {
    abi::AreaHeader& header = *machine.area;
    const auto regions = static_cast<std::uint32_t>(machine.regions.size());
    header.region_count = regions;
    header.region_size = sizeof(abi::RegionEntry);
    header.regions_offset = sizeof(abi::AreaHeader);
    auto* entries = reinterpret_cast<abi::RegionEntry*>(&header + 1);
    for (std::size_t i = 0; i < machine.regions.size(); ++i) {
        entries[i] = machine.regions[i];
        entries[i].flags = final_flags(machine, machine.regions[i]);
    }
    header.tree_base = guest_tree.begin;
    header.tree_size = static_cast<std::uint32_t>(guest_tree.size());
    std::strncpy(header.board, machine.board.name, sizeof header.board - 1);
    header.description_crc = description_crc(header, regions);
    header.state = abi::AreaState::running;
    port::complete_system(); // everything else before `magic`, which makes the area visible
    header.magic = abi::area_magic;
    port::complete_system();
}

} // namespace mmioscope
