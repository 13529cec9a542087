// A whole machine: the simulated board, the hypervisor booted on it by its own start_machine() and
// start_parked(), and a guest program per CPU.
#pragma once

#include "board_tree.hpp"
#include "code.hpp"
#include "machine/machine.hpp"
#include "services.hpp"
#include "simulation.hpp"
#include "start/setup.hpp"

#include <map>
#include <optional>

namespace mmioscope::sim {

class Rig;

struct RigOptions {
    Conditions conditions;
    bool native{}; ///< no hypervisor: the guest runs alone, with one CPU
    TreeOptions tree;
    /// Replaces the tree from `tree`.
    Blob blob;
    std::uint32_t boot_tree{0x8100'0000}; ///< its address
    std::optional<std::uint32_t> r2{};    ///< what the loader hands over, if not that
    /// Called repeatedly: whether a reader empties the rings now. Unset: only at the end.
    std::function<bool(Rig&)> read_when;
};

/// The machine's Control, as a request on any way reaches it.
inline Control& control_of(Machine& machine) {
    for (Service* service : machine.services)
        if (auto* control = dynamic_cast<Control*>(service)) return *control;
    throw Failure{"the machine has no control"};
}
inline std::optional<abi::control::Reply> execute(mmioscope::Cpu& cpu,
                                                  const abi::control::Request& request) {
    return control_of(*cpu.machine).execute(cpu, request);
}

/// `cpus` CPUs and an engine, under conditions that `seed` chooses.
RigOptions options_for(abi::EngineKind engine, unsigned cpus, std::uint64_t seed);

class Rig {
public:
    explicit Rig(const RigOptions& options);

    /// The place for CPU `cpu`'s program. CPU 0 starts the others before its own.
    Code program(unsigned cpu);

    /// What CPU `cpu` does when its program has ended.
    void on_end(unsigned cpu, std::function<void(Core&, mmioscope::Cpu&)> action) {
        at_end_[cpu] = std::move(action);
    }

    /// Boots, runs all programs to their ends, and reads the rings.
    void run();

    /// What the simulation found wrong; empty if nothing.
    const std::string& failure() const { return simulation.scheduler.failure(); }
    /// The guest's register `n` of a CPU, in SVC mode.
    std::uint32_t reg(unsigned cpu, unsigned n) const { return simulation.cores[cpu].frame.r[n]; }
    const std::vector<abi::Record>& records(unsigned cpu) const { return records_[cpu]; }
    /// For showing that a judge finds errors.
    std::vector<abi::Record>& mutable_records(unsigned cpu) { return records_[cpu]; }
    /// All records of `type`, CPU by CPU.
    std::vector<abi::Record> records_of(abi::RecordType type) const;
    const abi::RingHeader& ring(unsigned cpu) const;
    /// Bus accesses to [begin, begin+size).
    std::vector<BusAccess> bus_log(std::uint64_t begin, std::uint64_t size) const;
    /// The stores among them.
    std::vector<BusAccess> stores_to(std::uint64_t begin, std::uint64_t size) const;
    const std::string& text() const { return text_; }

    Simulation simulation;
    Services services;
    decltype(list_of(services)) list{list_of(services)};
    /// In its memory, since addresses in it are words of 32 bits (machine/fast_state.hpp).
    struct Destroy {
        void operator()(Machine* machine) const { machine->~Machine(); }
    };
    std::unique_ptr<Machine, Destroy> machine;
    Setup setup;

private:
    void attach_devices();
    void write_prologues();
    void prepare_machine();
    Frame start_hypervisor(Core& core, mmioscope::Cpu& cpu);
    Frame start_natively(Core& core);
    void run_cpu(unsigned number);
    void run_reader();
    bool drain(unsigned cpu);

    std::uint32_t boot_tree_;
    std::uint32_t r2_;
    bool native_{};
    std::function<bool(Rig&)> read_when_;
    bool ready_{};
    std::string text_;
    std::vector<std::vector<abi::Record>> records_;
    std::map<unsigned, std::function<void(Core&, mmioscope::Cpu&)>> at_end_;
};

/// Asks for memory that may change, in place of the first service.
class ForMemory final : public Service {
public:
    ForMemory(Rig& rig, MemoryOf memory) : memory_(memory) { rig.list[0] = this; }
    BootError configure(Machine& machine, Setup&) override {
        machine.memory = memory_;
        return {};
    }

private:
    MemoryOf memory_;
};

} // namespace mmioscope::sim
