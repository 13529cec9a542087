// What the core asks of the services (hyp/services/). The core works without any: it names none,
// and each hook does nothing unless a service overrides it.
//
// A hook is called where the guest does nothing that is traced, so it may cost something. What a
// service wants to see at a trap, it registers in Machine::first, worker or chooser: a word each,
// null as long as nobody does. Who wants to see accesses has AccessHooks (engine/engine.hpp).
#pragma once

#include "base/boot_error.hpp"
#include "base/print.hpp"
#include "dev/console.hpp"
#include "engine/engine.hpp"
#include "machine/area_layout.hpp"

#include <optional>
#include <span>

namespace mmioscope {

struct Machine;
struct Setup;

/// When a service may check that all is well.
enum class Moment : std::uint8_t {
    idle,  ///< a CPU is about to sleep
    last,  ///< the guest is about to end the machine, after which nothing runs
    doubt, ///< something has happened that a sound guest does not do
};

/// How the machine ends.
enum class MachineEnd : std::uint8_t { off, reset, panicked };

class Service {
public:
    // While CPU 0 starts the machine, in this order:

    /// Who makes the accesses with an engine of that kind, if the service has it.
    virtual DeviceOps* engine(abi::EngineKind) { return nullptr; }
    /// Reads the service's options from the tree, and takes what it needs of the machine. Memory
    /// and devices are known; no tables exist.
    virtual BootError configure(Machine&, Setup&) { return {}; }
    /// The tables of the guest are built; no CPU uses them yet. False: no room.
    [[nodiscard]] virtual bool add_to_tables(Machine&) { return true; }
    /// The trace area at `where` is about to be cleared. What became of its records; nothing if the
    /// service does not keep any.
    virtual std::optional<abi::Kept> keep(Range where, const AreaLayout&, unsigned cpus) {
        (void)where, (void)cpus;
        return {};
    }
    /// Records may be written, and no reader looks at the area yet. `uart`: for a message.
    virtual void before_readers(Cpu&, Console& uart) { (void)uart; }
    /// All is as it will be when the guest starts.
    virtual BootError start(Machine&, const Setup&) { return {}; }

    // While the guest runs:

    /// For the service in Machine::first: whatever has trapped, before all else, even in a step;
    /// and an abort that no owner explains. True: that was all, and the guest tries again.
    virtual bool trap(Cpu&, const Frame&, arch::Hsr) { return false; }
    virtual bool abort(Cpu&, const Frame&, arch::Hsr) { return false; }
    /// For the service in Machine::worker, at the end of a trap or before an access: does a little
    /// of its work. No step is armed, and Hyp may use exclusives.
    virtual void work(Cpu&) {}
    /// Whether the next work() may take locks or write records. If not, the fast path stays open.
    virtual bool work_needs_all(const Cpu&) const { return false; }
    /// For the same service, before a CPU sleeps. False: there is more to do, do not sleep yet.
    [[nodiscard]] virtual bool may_sleep(Cpu&) { return true; }

    /// May stop the machine with a report if it is damaged.
    virtual void verify(Machine&, Moment) {}
    /// The machine ends, or has stopped with a report.
    virtual void end(Cpu&, MachineEnd) {}
    /// Adds to the report of a panic.
    virtual void report(Machine&, TextSink&) {}

protected:
    ~Service() = default;
};

/// The services that are linked, in the order in which their hooks are called. Lives as long as the
/// machine.
std::span<Service* const> linked_services();

/// Calls verify() of all services.
void verify_services(Machine& machine, Moment moment);
/// Calls end() of all services.
void end_services(Cpu& cpu, MachineEnd how);

} // namespace mmioscope
