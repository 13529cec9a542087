// A self-test of the board, as the hypervisor's only service: the hypervisor starts as always, with
// the trial (doctor/trial.hpp) as its guest. So what is tested is what the tracer will use. The
// doctor looks around where the core calls its services, tells on the UART what it finds, and stops
// with a verdict. What the core refuses ends the report as well, with the core's own sentence.
#pragma once

#include "doctor/report.hpp"
#include "doctor/trial.hpp"
#include "engine/engine.hpp"
#include "engine/service.hpp"

#include <atomic>

namespace mmioscope::doctor {

class Doctor final : public Service, public OwnerOps {
public:
    BootError configure(Machine&, Setup&) override;
    bool add_to_tables(Machine&) override;
    BootError start(Machine&, const Setup&) override;
    Outcome access(Cpu&, Frame&, abi::FaultReason) override;

private:
    /// How CPU 0 makes its reads; the others only step, or emulate and then step without
    /// breakpoints.
    enum class Round : std::uint8_t { step, slow_path, emulation, without_breakpoints };
    struct Reads {
        std::uint32_t first_sequence; ///< of the record before them
        std::uint64_t begin;          ///< CNTPCT
    };

    void report_entry(const Machine& machine);
    void report_firmware(const Machine& machine);
    void report_core(const Machine& machine);
    void report_cpu(const Cpu& cpu);
    void report_reads(Cpu& cpu, Round round, std::uint32_t value);
    void report_translations(const Machine& machine);
    void report_uart();
    void give_orders(Machine& machine);
    void next_round(Cpu& cpu, Frame& frame);
    void hear(Cpu& cpu, Frame& frame, Tell what, std::uint32_t value);
    void end_with_verdict(Cpu& cpu);
    [[noreturn]] void stop(Console& uart);

    /// Only one CPU reports at a time: CPU 0 waits for each other one, or gives it up.
    enum class Arrival : std::uint32_t { awaited, arrived, given_up };
    bool settle(unsigned cpu, Arrival how);

    Report report_;
    Order order_{};
    std::atomic<Arrival> arrival_[abi::max_cpus]{};
    Reads reads_{};
    std::uint64_t traps_{}; ///< of CPU 0, before its HVC
    Round round_{Round::step};
    bool shadow_works_{true};
};

} // namespace mmioscope::doctor
