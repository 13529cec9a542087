// A service that gives a page of memory to one CPU at a time: each move to another CPU is a record.
#pragma once

#include "changing/live_tables.hpp"
#include "engine/engine.hpp"
#include "engine/service.hpp"
#include "port/shared.hpp"
#include "port/sysreg.hpp"

namespace mmioscope {

class OneCpusPage : public Service, public OwnerOps {
public:
    /// A CPU may keep it for `hold` ticks: a store-exclusive then finds what its load has reserved.
    constexpr OneCpusPage(Integrity& integrity, std::uint32_t page, std::uint32_t hold)
        : integrity_(integrity), page_(page), hold_(hold) {}

    static constexpr unsigned nobody = 0xf;
    enum class By : std::uint32_t { fetch, load, store };
    /// The value of a move's record, which is a marker.
    static constexpr std::uint32_t move_value(By by, unsigned from, unsigned to) {
        return static_cast<std::uint32_t>(by) << 8 | from << 4 | to;
    }

    BootError configure(Machine& machine, Setup&) override {
        machine.memory = MemoryOf::each_cpu;
        return {};
    }
    BootError start(Machine& machine, const Setup&) override {
        if (auto e = LiveTables::objection(machine, 2 * machine.cpu_count)) return e;
        LiveTables tables(machine, integrity_);
        bool room = machine.give_page(page_, *this);
        for (unsigned cpu = 0; cpu < machine.cpu_count; ++cpu)
            room &= tables.map(views_of(cpu), page_, 0);
        return room ? BootError{} : BootError{"no room for the page", ""};
    }
    Outcome access(Cpu& cpu, Frame&, abi::FaultReason) override {
        return get(cpu, cpu.trapped.access.write ? By::store : By::load);
    }
    Outcome fetch(Cpu& cpu, Frame&, VirtualAddress, PhysicalAddress, bool) override {
        return get(cpu, By::fetch);
    }

    unsigned moves() const { return moves_; }

protected:
    /// Overridden with what is wrong.
    virtual bool take(Machine& machine, unsigned from, unsigned) {
        return LiveTables(machine, integrity_).map(views_of(from), page_, 0);
    }
    virtual void record(Cpu& cpu, std::uint32_t move) {
        abi::Record record{};
        record.type = abi::RecordType::marker;
        record.device = abi::no_device;
        record.value = move;
        cpu.ring.publish_event(record);
    }
    bool give(Machine& machine, unsigned to) {
        const auto leaf = lpae::make_leaf(page_, lpae::guest_memory, lpae::last_level);
        return LiveTables(machine, integrity_).map(views_of(to), page_, leaf);
    }

    Integrity& integrity_;
    const std::uint32_t page_;

private:
    unsigned has() const { return port::load_shared(has_); }
    /// The guest tries again, and again while another CPU keeps it.
    Outcome get(Cpu& cpu, By by) {
        const unsigned from = has();
        const std::uint64_t kept = port::read<reg::CNTPCT>() - port::load_shared(since_);
        if (from != cpu.number && from != nobody && kept < hold_) return Outcome::again;
        if (!begin_quiet(cpu)) return Outcome::again;
        if (has() != cpu.number) move(cpu, by);
        end_quiet(cpu);
        return Outcome::again;
    }
    void move(Cpu& cpu, By by) {
        const unsigned from = has();
        bool done = from == nobody || take(*cpu.machine, from, cpu.number);
        record(cpu, move_value(by, from, cpu.number));
        ++moves_;
        port::store_shared(has_, cpu.number);
        done &= give(*cpu.machine, cpu.number);
        check(done, "a page cannot be moved");
        port::store_shared(since_, port::read<reg::CNTPCT>());
    }

    const std::uint32_t hold_;
    std::uint32_t has_{nobody};
    unsigned moves_{};
    std::uint64_t since_{};
};

} // namespace mmioscope
