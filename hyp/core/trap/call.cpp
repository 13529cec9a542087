#include "trap/dispatch.hpp"

#include "arch/psci.hpp"
#include "engine/engine.hpp"
#include "engine/service.hpp"
#include "guest/exception.hpp"
#include "machine/cpu.hpp"
#include "machine/machine.hpp"
#include "port/firmware.hpp"
#include "port/memory.hpp"

#include <algorithm>
#include <iterator>

namespace mmioscope {

namespace {

using psci::Function;

struct Call {
    Function function;
    std::uint32_t id; ///< as the guest and its firmware know it
    std::uint32_t argument[3];
};

std::uint32_t forward(const Call& call) {
    return port::call_firmware(call.id, call.argument[0], call.argument[1], call.argument[2]);
}

/// The CPU will start with its MMU off and use its stack before it turns the MMU on, so no cache
/// may keep a line of that stack from earlier.
void flush_stack(const Machine& machine, unsigned number) {
    constexpr unsigned stacks_each = 2; // linker/hyp.ld; the lowest page of each stack is its guard
    for (unsigned n = 0; n < stacks_each; ++n)
        port::flush_to_coherency(PhysicalAddress{machine.image.stacks.begin} +
                                     (stacks_each * number + n) * stack_size + page_size,
                                 stack_size - page_size);
}

/// CPU_ON (DEN 0022D 5.6). The firmware starts the CPU in Hyp; the guest's entry waits for it in
/// Machine::power.
std::uint32_t cpu_on(Cpu& cpu, const Call& call) {
    Machine& machine = *cpu.machine;
    const std::uint32_t affinity = call.argument[0];
    const unsigned target = machine.clusters.named(affinity);
    if (target >= machine.cpu_count || affinity >> 24 != 0) return psci::invalid_parameters;
    switch (machine.power.prepare(target, CpuPower::off, {call.argument[1], call.argument[2]})) {
    case CpuPower::on: return psci::already_on;
    case CpuPower::pending: return psci::on_pending;
    case CpuPower::off: break;
    }
    flush_stack(machine, target);
    const std::uint32_t answer =
        forward({call.function, call.id, {affinity, port::cpu_on_entry(), 0}});
    if (answer != psci::success) machine.power.set(target, CpuPower::off);
    return answer;
}

/// CPU_OFF (5.5); returns only if the firmware denies it.
std::uint32_t cpu_off(Cpu& cpu, const Frame& frame, const Call& call) {
    cpu.debug.give_back();
    record_power(cpu, abi::PowerEvent::cpu_off, frame.pc);
    cpu.machine->power.set(cpu.number, CpuPower::off);
    const std::uint32_t answer = forward(call);
    cpu.machine->power.set(cpu.number, CpuPower::on);
    return answer;
}

/// CPU_SUSPEND (5.4). A state that powers down continues at an entry, as CPU_ON does; but the
/// firmware may also keep the CPU on and return.
std::uint32_t cpu_suspend(Cpu& cpu, const Call& call) {
    if ((call.argument[0] & psci::state_powers_down) == 0) return forward(call);
    cpu.debug.give_back(); // what a power-down leaves of it is the guest's
    Power& power = cpu.machine->power;
    power.prepare(cpu.number, CpuPower::on, {call.argument[1], call.argument[2]});
    const std::uint32_t answer =
        forward({call.function, call.id, {call.argument[0], port::cpu_on_entry(), 0}});
    power.set(cpu.number, CpuPower::on);
    return answer;
}

/// SYSTEM_OFF and SYSTEM_RESET (5.10, 5.11); return only if the firmware does not know them. Until
/// then the other CPUs make no access. The stream has ended then, since nothing tells in advance;
/// the rings go on.
std::uint32_t end_machine(Cpu& cpu, const Frame& frame, const Call& call) {
    const bool off = call.function == Function::system_off;
    cpu.debug.give_back();
    stop_accesses(cpu);
    record_power(cpu, off ? abi::PowerEvent::system_off : abi::PowerEvent::system_reset, frame.pc);
    end_services(cpu, off ? MachineEnd::off : MachineEnd::reset);
    const std::uint32_t answer = forward(call);
    allow_accesses(cpu);
    return answer;
}

/// CPU_OFF checks nothing: another CPU waits for it, and Linux prints a message if it has to ask
/// twice.
void verify_services(Machine& machine, const Call& call) {
    switch (call.function) {
    case Function::cpu_suspend:
        if ((call.argument[0] & psci::state_powers_down) != 0)
            verify_services(machine, Moment::idle);
        return;
    case Function::system_off:
    case Function::system_reset: return verify_services(machine, Moment::last);
    default: return;
    }
}

/// PSCI_FEATURES (5.15). What is not passed on does not exist for the guest, whatever firmware
/// knows: SYSTEM_SUSPEND would lose Hyp's state.
std::uint32_t features(const Call& call) {
    constexpr Function passed_on[] = {
        Function::version,    Function::cpu_suspend,   Function::cpu_off,
        Function::cpu_on,     Function::affinity_info, Function::migrate_info_type,
        Function::system_off, Function::system_reset,  Function::features};
    const auto asked = static_cast<Function>(call.argument[0]);
    return std::ranges::find(passed_on, asked) != std::end(passed_on) ? forward(call)
                                                                      : psci::not_supported;
}

std::uint32_t answer(Cpu& cpu, const Frame& frame, const Call& call) {
    verify_services(*cpu.machine, call);
    switch (call.function) {
    case Function::version:
    case Function::affinity_info:
    case Function::migrate_info_type: return forward(call);
    case Function::features: return features(call);
    case Function::cpu_on: return cpu_on(cpu, call);
    case Function::cpu_off: return cpu_off(cpu, frame, call);
    case Function::cpu_suspend: return cpu_suspend(cpu, call);
    case Function::system_off:
    case Function::system_reset: return end_machine(cpu, frame, call);
    }
    return psci::not_supported;
}

} // namespace

void record_power(Cpu& cpu, abi::PowerEvent event, std::uint32_t pa) {
    abi::Record record =
        event_record(abi::RecordType::power, abi::power_value(event, cpu.number), pa);
    cpu.ring.publish_event(record);
}

constinit Psci firmware_calls;

Outcome Psci::call(Cpu& cpu, Frame& frame) {
    const Call call{cpu.machine->config.psci_functions.function(frame.r[0]),
                    frame.r[0],
                    {frame.r[1], frame.r[2], frame.r[3]}};
    frame.r[0] = answer(cpu, frame, call);
    return Outcome::done;
}

// HVC returns to the instruction after it (ARM ARM B1.8.8, table B1-9), SMC to itself.
Outcome guest_call(Cpu& cpu, Frame& frame, arch::Hsr hsr) {
    const bool hvc = hsr.ec() == arch::ExceptionClass::hvc;
    if (hvc) frame.pc -= 4;
    const psci::Conduit by = hvc ? psci::Conduit::hvc : psci::Conduit::smc;
    const unsigned immediate = hvc ? hsr.immediate() : 0;
    CallOps* ops = nullptr; // firmware looks at no immediate: 0 has those of nobody else, too
    for (const CallEntry& entry : cpu.machine->calls)
        if (entry.by == by && (entry.immediate == immediate || (entry.immediate == 0 && !ops)))
            ops = entry.ops;
    if (ops != nullptr) return ops->call(cpu, frame);
    inject_undefined(frame);
    return Outcome::taken;
}

} // namespace mmioscope
