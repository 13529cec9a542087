// A guest that may read the trace area, and so can write to it, forges the words there from which
// addresses, sizes and counts follow, one by one and all the time, and asks for snapshots. They
// must not differ from those of a guest that does not, and nothing else may change.
#include "control.hpp"

#include "abi/layout.hpp"
#include "abi/ring.hpp"

#include <atomic>
#include <iterator>

using namespace guest;
namespace abi = mmioscope::abi;

namespace {

constexpr u32 base = control_page - abi::control_page_offset; ///< the hypervisor's
constexpr u32 area = base + abi::area_offset;
constexpr u32 rounds = 2000; ///< snapshots while another CPU forges

abi::AreaHeader honest; ///< as the hypervisor wrote it

/// Offsets of the hypervisor's code, its tables, its data, and a device from the area's start or
/// end, and numbers without bounds.
constexpr u32 lies[] = {0,
                        1,
                        200,
                        0x00f0'0000,
                        0x7000'0000,
                        ~0u,
                        base - area,
                        base + 0x4'b000 - area,
                        base + 0x1a'0000 - area,
                        (palette & ~0xfffu) - area,
                        base + 0x1a'0000 - area + 0x3'2000};

/// Words of the header, by their offsets. The reader on the host has read it at the start.
constexpr u32 words[] = {
    offsetof(abi::AreaHeader, area_base),       offsetof(abi::AreaHeader, area_size),
    offsetof(abi::AreaHeader, area_size) + 4,   offsetof(abi::AreaHeader, header_size),
    offsetof(abi::AreaHeader, cpu_count),       offsetof(abi::AreaHeader, region_count),
    offsetof(abi::AreaHeader, regions_offset),  offsetof(abi::AreaHeader, region_size),
    offsetof(abi::AreaHeader, record_size),     offsetof(abi::AreaHeader, ring_offset),
    offsetof(abi::AreaHeader, ring_offset) + 4, offsetof(abi::AreaHeader, kept_offset),
    offsetof(abi::AreaHeader, kept_size)};

std::atomic<u32> stop{0};
std::atomic<u32> finished{0};
u32 snapshots = 0;
u32 number = 0;

void drain() {
    asm volatile("dsb" ::: "memory");
}

/// The newest record of CPU 0 in the snapshot is of the last number, and it has only numbers.
void look_at_snapshot() {
    const u32 ring = area + honest.kept_offset + abi::area_head_size;
    const u32 head = read(ring + offsetof(abi::RingHeader, head));
    const u32 first_slot = ring + sizeof(abi::RingHeader);
    constexpr u32 slots = abi::kept_records;
    u32 behind = 0; // a snapshot may be asked for again, with more traps in between
    for (u32 n = 1; n <= slots && n <= head; ++n) {
        const u32 slot = first_slot + (head - n) % slots * sizeof(abi::Record);
        const u32 at = read(slot + offsetof(abi::Record, pa_low));
        if (at != palette) continue;
        require(read(slot + offsetof(abi::Record, value)) == number - behind, "a wrong record");
        ++behind;
    }
    require(behind >= 8, "the last records are not in the snapshot");
}

void take_snapshot() {
    for (u32 n = 0; n < 8; ++n) write(palette, ++number);
    order(Command::snapshot);
    drain();
    ++snapshots;
}

/// One word of the header after the other.
void forge_each() {
    for (const u32 word : words)
        for (const u32 lie : lies) {
            const u32 truth = read(area + word);
            write(area + word, lie);
            drain();
            take_snapshot();
            write(area + word, truth);
            drain();
            look_at_snapshot();
        }
}

/// The words of the rings, and of the place that a snapshot goes to; what is kept may be nonsense.
void forge_rings() {
    const u32 small = area + honest.kept_offset;
    const u32 ring = area + honest.ring_offset[0];
    for (const u32 lie : lies)
        for (const u32 at : {small + u32{offsetof(abi::AreaHeader, region_count)},
                             small + u32{offsetof(abi::AreaHeader, ring_offset)},
                             ring + u32{offsetof(abi::RingHeader, boot_number)},
                             ring + u32{offsetof(abi::RingHeader, cpu)},
                             ring + u32{offsetof(abi::RingHeader, in_flight)}}) {
            const u32 truth = read(at);
            write(at, lie);
            drain();
            take_snapshot();
            write(at, truth);
        }
}

} // namespace

void guest_main() {
    honest = *reinterpret_cast<const abi::AreaHeader*>(area);
    require(honest.magic == abi::area_magic && honest.cpu_count == 2, "there is no trace area");
    forge_each();
    forge_rings();
    start_cpu(1);
    for (u32 n = 0; n < rounds; ++n) take_snapshot();
    stop = 1;
    while (finished.load() == 0) {
    }
    take_snapshot();
    look_at_snapshot();
    print("forged: ", snapshots, " snapshots\n");
    done();
}

/// All the time: in the header, and in the snapshot while it is made.
void secondary_main() {
    const u32 small = area + honest.kept_offset;
    const u32 ring = small + abi::area_head_size;
    for (u32 n = 0; stop.load() == 0; ++n) {
        const u32 lie = lies[n % std::size(lies)];
        const u32 at = area + words[n % std::size(words)];
        const u32 truth = read(reinterpret_cast<u32>(&honest) + words[n % std::size(words)]);
        write(at, lie);
        write(small + words[(n + 1) % std::size(words)], lie);
        write(ring + offsetof(abi::RingHeader, head), lie);
        write(ring + offsetof(abi::RingHeader, capacity), lie);
        write(at, truth);
    }
    drain();
    finished = 1;
}
