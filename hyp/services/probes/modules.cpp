// Functions of modules: their probes are set before their init function runs, and end before their
// code is free.
#include "abi/control_check.hpp"
#include "changing/live_tables.hpp"
#include "changing/request_record.hpp"
#include "port/memory.hpp"
#include "port/sysreg.hpp"
#include "probes/probes.hpp"
#include "trap/translate.hpp"

#include <utility>

namespace mmioscope {

using abi::control::Command;
using abi::control::ProbeEnd;
using abi::control::Status;

/// The kernel is about to run the init function of the module in r0. False: the guest tries again.
/// Of several modules one at a time waits.
bool Probes::module_has_its_probes(Cpu& cpu, const Frame& frame, Probe& probe) {
    const std::int64_t patience =
        std::int64_t{abi::control::mailbox_patience} * port::read<reg::CNTFRQ>();
    const auto late = [&] {
        return static_cast<std::int64_t>(port::read<reg::CNTPCT>() - wait_begin_) > patience;
    };
    const bool waits = port::load_shared(loading_) == frame.r[0];
    if (waits && complete_) return true;
    if (waits && !late() && port::load_shared(mailbox_->request.id) == answered_) return false;
    if ((cpu.ring.stalls() && !cpu.ring.has_room(1)) || !begin_quiet(cpu)) return false;
    if (loading_ == 0) {
        loading_ = frame.r[0];
        complete_ = false;
        wait_begin_ = port::read<reg::CNTPCT>();
        port::store_shared(mailbox_->module, loading_);
    } else if (late() && probe.is(loads_modules) && is_at(probe, frame)) {
        end(cpu, probe, ProbeEnd::unanswered);
    } else if (waits) {
        read_mailbox(cpu);
    }
    end_quiet(cpu);
    return false;
}

void Probes::read_mailbox(Cpu& cpu) {
    abi::control::Request r;
    port::load_structure(r, mailbox_->request);
    const bool is_next = abi::control::is_of_next_probes(r.command);
    if (r.check != check_of(r) || r.id == answered_ || (r.command != Command::probe && !is_next))
        return;
    abi::control::Reply reply{abi::control::version, Status::argument, r.id, {}, 0};
    if (is_next || r.argument[0] != 0) {
        std::swap(staged_, staged_of_modules_); // others' next probes
        if (!is_next) reply.status = add(cpu, r);
        else if (abi::control::well_formed(r) && stage(r)) reply.status = Status::done;
        std::swap(staged_, staged_of_modules_);
        if (reply.status == Status::done)
            record_change(cpu, r.command, r.argument[0], r.argument[1]);
    } else {
        reply.status = Status::done;
        complete_ = true;
        port::store_shared(mailbox_->module, 0);
    }
    answered_ = r.id;
    reply.check = check_of(reply);
    port::copy_shared(mailbox_->reply, reply);
}

namespace {

/// Whether Linux itself has mapped `va`, in the area of modules. Its own tables go by TTBR1, even
/// if the CPU does not use it; with long descriptors those of the GiB before TTBR1's lie on the
/// page before (arch/arm/mm/proc-v7-3level.S).
bool mapped_by_kernel(const Machine& machine, std::uint32_t va) {
    const std::uint32_t control = port::read<reg::TTBCR>(), base = port::read<reg::TTBR1>();
    const bool is_long = control >> 31 != 0, third_gib = (control >> 16 & 7) == 2;
    const std::uint32_t first = is_long ? (base & 0xffff'f000) - 0x1000 + (va >> 21 & 0x1ff) * 8
                                        : (base & 0xffff'c000) + (va >> 20) * 4;
    std::uint32_t entry = 0;
    if ((is_long && !third_gib) || !read_guest_memory(machine, {first}, {&entry, 1}) ||
        (entry & 3) != (is_long ? 3 : 1))
        return false;
    const std::uint32_t second = is_long ? (entry & 0xffff'f000) + (va >> 12 & 0x1ff) * 8
                                         : (entry & 0xffff'fc00) + (va >> 12 & 0xff) * 4;
    return read_guest_memory(machine, {second}, {&entry, 1}) && (entry & 2) != 0;
}

} // namespace

/// The kernel is about to free the code that r0 points to, by the function of `frees`. Linux leaves
/// the page behind it unmapped. A process's table may not have it yet (it gets that by a fault). If
/// nothing tells how much it is, all code ends that is not mapped as the kernel itself.
void Probes::end_freed(Cpu& cpu, const Frame& frame, const Probe& frees) {
    constexpr std::uint32_t area = 16u << 20; // bytes, of modules
    const auto begin = static_cast<std::uint32_t>(page_floor(frame.r[0]));
    if (begin == 0) return; // of a module without a part
    std::uint32_t size = 0;
    while (size < area &&
           (translate(privileged, {begin + size}) || mapped_by_kernel(*cpu.machine, begin + size)))
        size += page_size;
    for (Probe& probe : all()) {
        const bool freed =
            size != 0 ? probe.va - begin < size : probe.pa - probe.va != frees.pa - frees.va;
        if (freed) end(cpu, probe, ProbeEnd::freed);
    }
}

} // namespace mmioscope
