// virt: the entropy device (virtio-rng over virtio-mmio) writes by DMA to any address that the
// guest gives: a buffer, and then the hypervisor's image. There is no IOMMU.
#include "platform.hpp"

using namespace guest;

namespace {

constexpr u32 hyp_image = 0x4800'0000; // its first instructions, which are not executed again
/// An address that QEMU's loader may set (tests/qemu/cases/hostile.sh, memory.sh); 0: the default.
const volatile u32& given = *reinterpret_cast<const u32*>(ram + (32u << 20));
constexpr u32 bytes = 16;

// The legacy register layout (Virtual I/O Device 1.0, 4.2.4), the default of QEMU's transports.
constexpr u32 transports = 0x0a00'0000; // virtio_mmio@a000000 and on
constexpr u32 transport_size = 0x200;
constexpr u32 transport_count = 32;
constexpr u32 device_id = 0x008;
constexpr u32 guest_page_size = 0x028;
constexpr u32 queue_sel = 0x030;
constexpr u32 queue_num = 0x038;
constexpr u32 queue_align = 0x03c;
constexpr u32 queue_pfn = 0x040;
constexpr u32 queue_notify = 0x050;
constexpr u32 status = 0x070;

constexpr u32 entropy = 4;
constexpr u32 acknowledge_driver_ok = 1 | 2 | 4;
constexpr u32 page = 4096;
constexpr u32 queue_size = 8;

struct Descriptor {
    std::uint64_t address;
    u32 length;
    u16 flags;
    u16 next;
};
constexpr u16 device_writes = 2;

/// One queue as the device sees it (2.4).
struct alignas(page) Queue {
    Descriptor descriptor[queue_size];
    u16 available_flags;
    u16 available_index;
    u16 available[queue_size];
    alignas(page) u16 used_flags;
    u16 used_index;
};
volatile Queue queue{};
alignas(16) volatile u32 own[bytes / 4];

u32 find_device() {
    for (u32 n = 0; n < transport_count; ++n) {
        const u32 at = transports + n * transport_size;
        if (read(at + device_id) == entropy) return at;
    }
    failed("no entropy device");
}

void start(u32 device) {
    write(device + status, 0u);
    write(device + status, 1u | 2u);
    write(device + guest_page_size, page);
    write(device + queue_sel, 0u);
    write(device + queue_num, queue_size);
    write(device + queue_align, page);
    write(device + queue_pfn, reinterpret_cast<u32>(&queue) / page);
    write(device + status, acknowledge_driver_ok);
}

/// Makes the device write `bytes` random bytes to `address`.
void fill(u32 device, u32 address) {
    const u16 index = queue.available_index;
    queue.descriptor[0].address = address;
    queue.descriptor[0].length = bytes;
    queue.descriptor[0].flags = device_writes;
    queue.available[index % queue_size] = 0;
    asm volatile("dmb" ::: "memory");
    queue.available_index = static_cast<u16>(index + 1);
    asm volatile("dsb" ::: "memory");
    write(device + queue_notify, 0u);
    while (queue.used_index != static_cast<u16>(index + 1)) {
    }
}

} // namespace

void guest_main() {
    const u32 device = find_device();
    start(device);
    fill(device, reinterpret_cast<u32>(own));
    require((own[0] | own[1] | own[2] | own[3]) != 0, "the device writes nothing");
    print("dma: into the guest\n");
    fill(device, given != 0 ? given : hyp_image);
    print(given - ram < hyp_image - ram ? "dma: again\n" : "dma: into the hypervisor\n");
    done();
}

void secondary_main() {}
