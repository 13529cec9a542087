#include "port.hpp"

#include "guest_cpu.hpp"
#include "machine/machine.hpp"
#include "simulation.hpp"

#include <cstring>

namespace mmioscope::sim {

namespace {
Simulation& machine() {
    Simulation* simulation = Simulation::current();
    if (simulation == nullptr) throw Failure{"a call into the port layer without a machine"};
    return *simulation;
}
bool exists() {
    return Simulation::current() != nullptr;
}
} // namespace

void point() {
    if (exists()) machine().point();
}
std::uint64_t read_register(Encoding which) {
    return exists() ? machine().read_register(which) : 0;
}
void write_register(Encoding which, std::uint64_t value) {
    if (exists()) machine().write_register(which, value);
}
void synchronize_context() {
    if (exists()) machine().synchronize_context();
}
void complete_local() {
    if (exists()) machine().complete_local();
}
void complete_all() {
    if (exists()) machine().complete_all();
}
void publish_tables() {
    if (exists()) machine().publish_tables();
}

void complete_system() {
    if (exists()) machine().complete_system();
}
void order_memory() {
    if (exists()) machine().order_memory();
}
void store_word(void* to, std::uint64_t value, unsigned size) {
    if (exists()) machine().store_word(to, value, size);
    else std::memcpy(to, &value, size);
}
std::uint64_t load_word(const void* from, unsigned size) {
    if (exists()) return machine().load_word(from, size);
    std::uint64_t value = 0;
    std::memcpy(&value, from, size);
    return value;
}
void store_payload(void* to, const void* from, std::size_t size) {
    if (exists()) machine().store_payload(to, from, size);
    else std::memcpy(to, from, size);
}
void load_payload(void* to, const void* from, std::size_t size) {
    if (exists()) machine().load_payload(to, from, size);
    else std::memcpy(to, from, size);
}
bool exchange(std::uint32_t* word, std::uint32_t expected, std::uint32_t desired) {
    if (exists()) return machine().exchange(word, expected, desired);
    if (*word != expected) return false;
    *word = desired;
    return true;
}
void clear_exclusive() {
    if (exists()) machine().core().monitor = false;
}

void* memory_at(PhysicalAddress address) {
    machine().check_hyp_mapping(address, false);
    const auto stale = machine().stale_words.find(address.value & ~std::uint64_t{3});
    if (stale != machine().stale_words.end())
        return reinterpret_cast<std::byte*>(&stale->second) + (address.value & 3);
    return machine().ram.at(address);
}
void flush_to_coherency(PhysicalAddress begin, std::size_t size) {
    if (!exists()) return;
    machine().point();
    if (machine().hypervisor != nullptr && machine().hypervisor->own_memory.contains(begin.value))
        for (std::uint64_t at = begin.value; at < begin.value + size; at += 2)
            machine().cleaned[at] = machine().ram.load<std::uint16_t>(at);
    constexpr std::uint64_t line = 32;
    const auto in_lines = [=](std::uint64_t at) {
        return at >= (begin.value & ~(line - 1)) &&
               at < ((begin.value + size + line - 1) & ~(line - 1));
    };
    std::erase_if(machine().stale_words, [&](const auto& word) { return in_lines(word.first); });
    std::erase_if(machine().read_ahead, in_lines);
    machine().complete_system(); // it ends with a DSB
}
PhysicalAddress address_of(const void* object) {
    return machine().ram.address_of(object);
}
void store_descriptor(std::uint64_t* entry, std::uint64_t value) {
    machine().store_descriptor(entry, value);
}
void store_half(std::uint64_t& entry, bool upper, std::uint64_t value) {
    machine().store_half(entry, upper, value);
}
bool exchange_descriptor(std::uint64_t* entry, std::uint64_t& expected, std::uint64_t value) {
    machine().point();
    machine().core().monitor = false; // a loop that ends by a STREX
    if (*entry != expected) {
        expected = *entry;
        return false;
    }
    machine().set_descriptor(entry, value);
    return true;
}

namespace {
void prepare_access(PhysicalAddress address) {
    machine().point();
    machine().check_hyp_mapping(address, !machine().ram.contains(address.value, 1));
}
BusAccess own_access(PhysicalAddress address, unsigned log2_size, bool write, std::uint64_t value) {
    prepare_access(address);
    if (machine().bus.aborts(address.value, write)) throw Failure{"an external abort in Hyp"};
    return {machine().now(), address.value, value, machine().core().number, log2_size, write, true};
}
} // namespace

std::uint64_t device_read(PhysicalAddress address, unsigned log2_size) {
    return exists() ? machine().device_access(own_access(address, log2_size, false, 0)) : 0;
}
void device_write(PhysicalAddress address, unsigned log2_size, std::uint64_t value) {
    if (exists()) machine().device_access(own_access(address, log2_size, true, value));
}

namespace {
constexpr std::uint32_t external_abort_in_hyp = (0x25u << 26) | 0x10;
}

Answer try_device_read(PhysicalAddress address, unsigned log2_size) {
    prepare_access(address);
    if (machine().bus.aborts(address.value, false)) return {0, external_abort_in_hyp};
    return {static_cast<std::uint32_t>(device_read(address, log2_size)), 0};
}
Answer try_device_write(PhysicalAddress address, unsigned log2_size, std::uint32_t value) {
    prepare_access(address);
    if (machine().bus.aborts(address.value, true)) return {0, external_abort_in_hyp};
    device_write(address, log2_size, value);
    return {0, 0};
}

std::uint32_t& banked(unsigned which) {
    machine().point();
    return machine().core().banked.at(which);
}

namespace {
Core& with_vector(bool enabled, unsigned n) {
    machine().point();
    Core& core = machine().core();
    constexpr std::uint32_t fpexc_en = 1u << 30;
    if ((core.system.get<reg::NSACR>() & 0xc00) != 0xc00 ||
        (enabled && (core.fpexc & fpexc_en) == 0) || n >= core.vector_registers)
        throw Failure{"an undefined VFP instruction in Hyp"};
    return core;
}
} // namespace

std::uint32_t vector_control() {
    return with_vector(false, 0).fpexc;
}
std::uint32_t vector_features() {
    return with_vector(true, 0).vector_registers / 16;
}
std::uint64_t vector_doubleword(unsigned n) {
    return with_vector(true, n).vector[n];
}

void*& this_cpu() {
    static void* without_machine = nullptr;
    return exists() ? machine().core().this_cpu : without_machine;
}
unsigned cpu_number() {
    return machine().core().number;
}

std::uint32_t call_firmware(const FirmwareCall& call) {
    if (!machine().firmware) throw Failure{"a call to firmware that is not there"};
    return machine().firmware(call);
}

TrialEnd run_trial() {
    if (!exists()) return {};
    Core& core = machine().core();
    return GuestCpu(machine(), core, *static_cast<Cpu*>(core.this_cpu)).run_trial();
}

void relax() {
    point();
    if (exists() && machine().defects.while_waiting) machine().defects.while_waiting();
}
void wait_for_interrupt() {
    machine().complete_system(); // it begins with a DSB
    machine().scheduler.wait();
}
void send_event() {
    machine().complete_system(); // it begins with a DSB
}
void wait_outside_coherency() {
    machine().wait_outside_coherency();
}
void halt() {
    if (exists()) machine().complete_system(); // eventually everything arrives
    throw Halted{};
}

} // namespace mmioscope::sim
