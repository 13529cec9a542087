#include "pages.hpp"

extern "C" guest::u32 translation_table[4096];

namespace instructions {

namespace {

// Small pages (ARM ARM B3.5.1).
constexpr u32 small_page = 2;
constexpr u32 execute_never = 1;
constexpr u32 all_access = 3u << 4;
constexpr u32 pl1_access = 1u << 4;
constexpr u32 shareable = 1u << 10;
constexpr u32 device = 1u << 2 | execute_never | shareable;
constexpr u32 normal = 1u << 6 | 1u << 3 | 1u << 2 | shareable;
constexpr u32 page_size = 4096;

constexpr u32 mmci = 0x1c05'0000; // mmc@50000
constexpr u32 sram = 0x1400'0000; // psram@100000000: memory, which is not traced

alignas(1024) u32 table[256];
alignas(page_size) u8 code[3][page_size];

constexpr u32 offset_of(u32 address) {
    return address & (page_size - 1);
}
constexpr u32 page_of(u32 address) {
    return (address - pages_begin) / page_size;
}

void map_page(u32 number, u32 physical, u32 attributes) {
    table[number] = physical | attributes | small_page;
}

/// Makes written code visible to fetches (ARM ARM B2.2.9).
void synchronize(u32 begin, u32 end) {
    for (u32 line = begin & ~31u; line < end; line += 32)
        asm volatile("mcr p15, 0, %0, c7, c11, 1" ::"r"(line) : "memory"); // DCCMVAU
    asm volatile("dsb" ::: "memory");
    for (u32 line = begin & ~31u; line < end; line += 32)
        asm volatile("mcr p15, 0, %0, c7, c5, 1" ::"r"(line) : "memory");        // ICIMVAU
    asm volatile("mcr p15, 0, %0, c7, c5, 6\n\tdsb\n\tisb" ::"r"(0) : "memory"); // BPIALL
}

} // namespace

void map_pages() {
    const auto code_page = [](u32 n) { return reinterpret_cast<u32>(code[n]); };
    constexpr u32 open = device | all_access;
    map_page(0, code_page(0), normal | all_access);
    map_page(1, guest::clcd, open);
    map_page(2, mmci, open);
    map_page(3, sram, open);
    map_page(4, guest::clcd, open);
    map_page(5, sram + page_size, open);
    map_page(6, guest::gic_distributor, open);
    map_page(7, guest::gic_interface, open);
    map_page(8, guest::clcd, open);
    map_page(9, code_page(1), normal | all_access);
    map_page(10, code_page(2), normal | all_access);
    map_page(11, guest::clcd, device | pl1_access);
    constexpr u32 coarse = 1;
    translation_table[pages_begin >> 20] = reinterpret_cast<u32>(table) | coarse;
    asm volatile("dsb\n\tmcr p15, 0, %0, c8, c7, 0\n\tdsb\n\tisb" ::"r"(0) : "memory"); // TLBIALL
}

Words words_of(const Case& c) {
    Words words{(c.target & ~3u) - 8, ((c.target + c.length + 3) & ~3u) + 8};
    // After GICC_PMR there are registers that differ between security states.
    constexpr u32 gicc = pages_begin + 7 * page_size;
    constexpr u32 priority_mask_end = gicc + 8;
    if (words.begin < gicc && words.end > priority_mask_end) words.end = priority_mask_end;
    return words;
}

bool is_writable(u32 address) {
    const u32 offset = offset_of(address);
    switch (page_of(address)) {
    case 1:
    case 4:
    case 8:
    case 11: return offset < 0xc || (offset >= 0x200 && offset < 0x400); // timings, palette
    case 2: return offset < 0xc;                                         // power, clock, argument
    case 3:
    case 5: return true;
    case 0:
    case 10: return offset >= 0xfc0; // behind the code
    case 9: return offset < 0x10;    // before it
    case 6: return offset >= 0x850 && offset < 0x860; // ITARGETSR of unused interrupts
    default: return false;
    }
}

u32 seed(u32 address) {
    u32 value = (address + 0x9e37'79b9) * 0x85eb'ca6b;
    value ^= value >> 13;
    return value * 0xc2b2'ae35;
}

void prepare_words(const Case& c) {
    const Words words = words_of(c);
    for (u32 address = words.begin; address < words.end; address += 4)
        if (is_writable(address)) guest::write(address, seed(address));
    for (u32 i = 0; i < c.plant_count; ++i)
        guest::write(c.target + c.plant_offset + 4 * i, c.plant[i]);
}

u32 place_code(const Case& c) {
    constexpr u32 thumb = 1u << 5;
    constexpr u32 arm_bkpt = 0xe120'0070;
    constexpr u32 thumb_bkpt = 0xbe00'be00;
    const u32 bkpt = (c.cpsr & thumb) != 0 ? thumb_bkpt : arm_bkpt;
    const u32 begin = c.slot - c.before;
    const u32 end = c.slot + code_space;
    u32 at = begin;
    for (u32 i = 0; i < c.before + c.size; i += 2, at += 2)
        guest::write(at, static_cast<guest::u16>(c.code[i] | c.code[i + 1] << 8));
    for (u32 half = 0; at < end; at += 2, half ^= 16)
        guest::write(at, static_cast<guest::u16>(bkpt >> half));
    synchronize(begin, end);
    return begin;
}

} // namespace instructions
