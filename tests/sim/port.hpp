// What include/port/ needs of the simulation. Without one, device accesses go nowhere.
#pragma once

#include "base/address.hpp"
#include "registers.hpp"

namespace mmioscope::sim {

void point();
std::uint64_t read_register(Encoding which);
void write_register(Encoding which, std::uint64_t value);
void synchronize_context();
void complete_local();
void complete_all();

void* memory_at(PhysicalAddress address);
PhysicalAddress address_of(const void* object);
void store_descriptor(std::uint64_t* entry, std::uint64_t value);

std::uint64_t device_read(PhysicalAddress address, unsigned log2_size);
void device_write(PhysicalAddress address, unsigned log2_size, std::uint64_t value);

std::uint32_t& banked(unsigned which);
void*& this_cpu();
unsigned cpu_number();

void relax();
void wait_for_interrupt();
[[noreturn]] void halt();

} // namespace mmioscope::sim
