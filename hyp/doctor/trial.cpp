#include "doctor/trial.hpp"

#include "port/barrier.hpp"
#include "port/device.hpp"
#include "port/firmware.hpp"
#include "port/memory.hpp"
#include "port/shared.hpp"
#include "port/sysreg.hpp"
#include "port/wait.hpp"

extern "C" {
void doctor_trial();
/// LDREX of `word`, a read of a debug register, which traps, STREX; the status of the store.
std::uint32_t doctor_exclusive_over(std::uint32_t* word);
/// STREX at `page` without a monitor: 1 if it fails by itself, 2 if it traps.
std::uint32_t doctor_exclusive_alone(std::uint32_t page);
/// A load with writeback, which HSR does not describe.
std::uint32_t doctor_load_with_writeback(std::uint32_t address, std::uint32_t log2_width);
/// An HVC that changes nothing.
void doctor_try_hvc();
/// As port::call_firmware(), by HVC.
std::uint32_t doctor_hvc(std::uint32_t function, std::uint32_t a, std::uint32_t b, std::uint32_t c);
void doctor_run_trial(std::uint32_t cpu, mmioscope::doctor::Order& order, std::uint32_t page);
}

namespace mmioscope::doctor {

namespace {

using CNTV_TVAL = reg::Register32<15, 0, 14, 3, 0>;
using CNTV_CTL = reg::Register32<15, 0, 14, 3, 1>;

/// One CPU's side of the trial.
struct Trial {
    std::uint32_t cpu;
    Order& order;
    std::uint32_t page;

    void tell(Tell what, std::uint32_t value = 0) const {
        port::device_write({page + 4 * static_cast<std::uint32_t>(what)}, 2, value);
    }
    void write(std::uint32_t address, std::uint32_t value) const {
        port::device_write({address}, 2, value);
    }

    void read_device() const {
        std::uint64_t value = 0;
        tell(Tell::reads_begin);
        for (std::uint32_t n = 0; n < reads; ++n)
            value = port::device_read({order.device}, order.log2_width);
        tell(Tell::reads_end, static_cast<std::uint32_t>(value));
    }
    void step_without_breakpoints() const {
        std::uint32_t value = 0;
        tell(Tell::reads_begin);
        for (std::uint32_t n = 0; n < reads; ++n)
            value = doctor_load_with_writeback(order.device, order.log2_width);
        tell(Tell::steps_end, value);
    }

    void try_timer() const {
        constexpr std::uint32_t on_and_masked = 3;
        constexpr std::uint32_t status = 4;
        constexpr unsigned most_polls = 10'000'000;
        port::write<CNTV_TVAL>(100);
        port::write<CNTV_CTL>(on_and_masked);
        port::synchronize_context();
        unsigned polls = 0;
        while ((port::read<CNTV_CTL>() & status) == 0 && polls < most_polls) ++polls;
        port::write<CNTV_CTL>(0);
        tell(Tell::timer, polls < most_polls);
    }

    // GICv2 (IHI 0048B, 4.3 and 4.4), as a kernel sees it.
    void try_interrupt() const {
        constexpr std::uint32_t gicc_pmr = 0x04;
        constexpr std::uint32_t gicc_iar = 0x0c;
        constexpr std::uint32_t gicc_eoir = 0x10;
        constexpr unsigned most_polls = 1000;
        if (order.distributor == 0) return;
        write(order.distributor, 1);
        write(order.cpu_interface + gicc_pmr, 0xf0);
        write(order.cpu_interface, 1);
        interrupt(1u << cpu);
        std::uint32_t id = 0;
        for (unsigned n = 0; n < most_polls; ++n) {
            id = static_cast<std::uint32_t>(port::device_read({order.cpu_interface + gicc_iar}, 2));
            if ((id & 0x3ff) == trial_interrupt) break;
        }
        if ((id & 0x3ff) == trial_interrupt) write(order.cpu_interface + gicc_eoir, id);
        tell(Tell::interrupt, id);
    }
    void interrupt(std::uint32_t cpus) const {
        constexpr std::uint32_t gicd_sgir = 0xf00;
        port::complete_system();
        write(order.distributor + gicd_sgir, cpus << 16 | trial_interrupt);
    }

    void start_cpu(std::uint32_t number) const {
        const auto entry =
            static_cast<std::uint32_t>(reinterpret_cast<std::uintptr_t>(&doctor_trial));
        if (order.cpu_on != 0) {
            const std::uint32_t target = order.affinity[number];
            tell(Tell::answer, order.hvc != 0
                                   ? doctor_hvc(order.cpu_on, target, entry, 0)
                                   : port::call_firmware(order.cpu_on, target, entry, 0));
        } else if (order.start[number] != 0) {
            write(order.start[number], entry);
            port::send_event();
            if (order.distributor != 0) interrupt(1u << number);
        }
        if (!in_time(order.arrived, number, 5)) tell(Tell::missing, number);
        // It may have come just then.
        if ((port::load_shared(order.arrived) >> number & 1) != 0 &&
            !in_time(order.done, number, 30))
            tell(Tell::hanging, number);
    }

    /// Waits for CPU `number`'s bit, for at most so many `seconds`.
    bool in_time(const std::uint32_t& bits, std::uint32_t number, std::uint32_t seconds) const {
        constexpr unsigned most_polls = 2'000'000'000; // if the counter is slower than CNTFRQ says
        const std::uint64_t begin = port::read<reg::CNTPCT>();
        for (unsigned n = 0; n < most_polls; ++n) {
            if ((port::load_shared(bits) >> number & 1) != 0) return true;
            if (port::read<reg::CNTPCT>() - begin > std::uint64_t{order.ticks} * seconds) break;
            port::relax();
        }
        return false;
    }
};

} // namespace

} // namespace mmioscope::doctor

void doctor_run_trial(std::uint32_t cpu, mmioscope::doctor::Order& order, std::uint32_t page) {
    using namespace mmioscope;
    using doctor::Tell;
    const doctor::Trial trial{cpu, order, page};
    trial.tell(Tell::arrived, static_cast<std::uint32_t>(
                                  port::device_read(port::address_of(&order.flushed) + 1, 2)));
    trial.read_device();
    if (order.steps == 0) trial.step_without_breakpoints();
    if (cpu == 0) {
        if (order.steps != 0) {
            trial.read_device(); // by the slow path
            trial.read_device(); // by emulation
            trial.tell(Tell::monitor,
                       doctor_exclusive_over(&order.word) | doctor_exclusive_alone(page)
                                                                << doctor::exclusive_alone_shift);
        }
        trial.tell(Tell::hvc_begin);
        doctor_try_hvc();
        trial.tell(Tell::hvc_end);
        trial.try_timer();
        trial.try_interrupt();
        for (std::uint32_t n = 1; n < order.cpus; ++n) trial.start_cpu(n);
        trial.tell(Tell::others_run);
    }
    trial.tell(Tell::done);
    for (std::uint32_t n = 1; port::load_shared(order.over) == 0; ++n)
        port::store_shared(order.turns[cpu], n);
    for (;;) port::wait_for_interrupt();
}
