// The simulation's interface for include/port/. Without a simulation, device accesses have no
// effect.
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
void publish_tables();
void complete_system();
void order_memory();
void store_word(void* to, std::uint64_t value, unsigned size);
std::uint64_t load_word(const void* from, unsigned size);
void store_payload(void* to, const void* from, std::size_t size);
void load_payload(void* to, const void* from, std::size_t size);
bool exchange(std::uint32_t* word, std::uint32_t expected, std::uint32_t desired);
void clear_exclusive(); ///< CLREX

void* memory_at(PhysicalAddress address);
void flush_to_coherency(PhysicalAddress begin, std::size_t size);
PhysicalAddress address_of(const void* object);
void store_descriptor(std::uint64_t* entry, std::uint64_t value);
void store_half(std::uint64_t& entry, bool upper, std::uint64_t value);
bool exchange_descriptor(std::uint64_t* entry, std::uint64_t& expected, std::uint64_t value);

std::uint64_t device_read(PhysicalAddress address, unsigned log2_size);
void device_write(PhysicalAddress address, unsigned log2_size, std::uint64_t value);

struct Answer {
    std::uint32_t value;
    std::uint32_t hsr;
};
Answer try_device_read(PhysicalAddress address, unsigned log2_size);
Answer try_device_write(PhysicalAddress address, unsigned log2_size, std::uint32_t value);

std::uint32_t& banked(unsigned which);
/// Undefined in Hyp if the settings forbid them: that ends the run.
std::uint32_t vector_control();
std::uint32_t vector_features();
std::uint64_t vector_doubleword(unsigned n);
void*& this_cpu();
unsigned cpu_number();

/// A call below Hyp, in the SMC Calling Convention.
struct FirmwareCall {
    std::uint32_t function;
    std::uint32_t argument[3];
};
/// The address to which firmware would send a CPU: there is no code.
inline constexpr std::uint32_t cpu_on_entry = 0x8200'0040;
std::uint32_t call_firmware(const FirmwareCall& call);

/// A trial of a breakpoint: where its code would be, and how it ended.
inline constexpr std::uint32_t trial_stop = 0x8201'e004;
inline constexpr std::uint32_t trial_vectors = 0x8201'e020;
struct TrialEnd {
    std::uint32_t hsr;
    std::uint32_t pc;
};
TrialEnd run_trial();

void relax();
void wait_for_interrupt();
void send_event();
void wait_outside_coherency();
[[noreturn]] void halt();

} // namespace mmioscope::sim
