// Accesses that HSR does not describe, where nothing can be stepped: each is an external abort that
// changes nothing, and the guest goes on. Needs the hypervisor with mmioscope,no-breakpoints, and
// clcd traced.
#include "platform.hpp"

using namespace guest;

namespace {

constexpr u32 external_abort = 0x08; // DFSR: synchronous, on no table walk (ARM ARM B3.13.3)
constexpr u32 status_mask = 0x40f;
constexpr u32 kept = 0x600d'600d;

template <typename Action>
void require_abort(const char* what, Action action) {
    const Fault fault = faults_of(action);
    print("refused: ", what, "\n");
    require(fault.kind == Kind::data_abort && fault.count == 1, "not one data abort");
    require((fault.status & status_mask) == external_abort, "it is not an external abort");
    require(fault.address == palette, "it is an abort of another address");
    require(read(palette) == kept, "a refused access has reached the device");
}

void writeback() {
    u32 value = 1;
    u32 pointer = palette;
    require_abort("load with writeback", [&] {
        asm volatile("ldr %0, [%1], #4" : "+r"(value), "+r"(pointer)::"memory");
    });
    require_abort("store with writeback", [&] {
        asm volatile("str %0, [%1], #4" : "+r"(value), "+r"(pointer)::"memory");
    });
    require(value == 1 && pointer == palette, "a refused access has changed a register");
}

void several() {
    std::uint64_t value = 1;
    require_abort("ldrd", [&] {
        asm volatile("ldrd %0, %H0, [%1]" : "+r"(value) : "r"(palette) : "memory");
    });
    require_abort("strd", [&] {
        asm volatile("strd %0, %H0, [%1]" ::"r"(value), "r"(palette) : "memory");
    });
    require(value == 1, "a refused access has changed a register");
}

void exclusive() {
    u32 value = 1;
    require_abort("ldrex", [&] {
        asm volatile("ldrex %0, [%1]" : "+r"(value) : "r"(palette) : "memory");
    });
    require(value == 1, "a refused access has changed a register");
}

} // namespace

void guest_main() {
    write(palette, kept);
    writeback();
    several();
    exclusive();
    done();
}

void secondary_main() {}
