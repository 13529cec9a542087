// Probes: each time when the guest executes a probed instruction, that becomes a record.
//
// A function's probe may ask for its returns, too. Then the instruction at LR gets a probe at the
// function's entry, if it has none. Which call has returned there, SP says to those who read the
// records.
//
// A probe may have a rule (probes/rule.hpp): then some of its hits make no record, and are counted.
//
// A page with a probed instruction has a copy (probes/code_pages.hpp), in which HVC #n stands in
// the instruction's place. At the HVC Hyp writes the record, and the guest executes the instruction
// itself, in a step, in the one view that has the page. So any instruction that can be stepped can
// be probed.
//
// What the guest writes to such a page, it writes to the page, and to the copy. If it changes a
// probed instruction, that probe ends, and a record says so. A read of the copy finds the HVC.
#pragma once

#include "abi/control.hpp"
#include "choice/choice.hpp"
#include "engine/service.hpp"
#include "probes/code_pages.hpp"
#include "probes/open_calls.hpp"
#include "probes/rule.hpp"
#include "stacks/stacks.hpp"

#include <optional>
#include <ranges>
#include <span>

namespace mmioscope {

class Probes final : public Service, public OwnerOps, public CallOps, public StepOps {
public:
    constexpr Probes(Integrity& integrity, Choice& choice, Stacks& stacks, MovingPages& moving)
        : pages_(integrity, moving), choice_(choice), stacks_(stacks), moving_(moving) {}

    BootError configure(Machine& machine, Setup& setup) override;
    bool add_to_tables(Machine& machine) override;
    BootError start(Machine& machine, const Setup& setup) override;
    void end(Cpu& cpu, MachineEnd how) override;

    bool on() const { return on_; }
    /// Carries out a request for probes, between begin_quiet() and end_quiet(). `done`: it is as
    /// the request wants it; otherwise nothing has changed. Empty: a part is done; ask again.
    std::optional<abi::control::Status> change(Cpu& cpu, const abi::control::Request& r);
    /// The hits without a record of the probe at `va`, as probe_hits has them. Empty: there is
    /// none.
    std::optional<Tally> hits_of(std::uint32_t va) const;

    /// HVC with an immediate.
    Outcome call(Cpu& cpu, Frame& frame) override;
    bool end_step(Cpu& cpu, Frame& frame, arch::Hsr hsr) override;
    /// A store to a page that has a copy; or any access while that changes.
    Outcome access(Cpu& cpu, Frame& frame, abi::FaultReason why) override;
    /// The first one from a page with probes from the start; or any while its copy changes.
    Outcome fetch(Cpu& cpu, Frame& frame, VirtualAddress va, PhysicalAddress pa,
                  bool by_walk) override;

private:
    using Page = CodePages::Page;

    /// Its number, from 1 on, is the immediate of its HVC.
    struct Probe {
        std::uint32_t va; ///< virtual address of the instruction; free: no_code
        std::uint32_t pa;
        std::uint32_t word;   ///< the instruction
        std::uint32_t site{}; ///< the last place to return to that had a probe; 0: none
        std::uint16_t of{};   ///< a function returns there: the number of that one's probe; 0: none
        std::uint8_t flags{}; ///< abi::control::returns, frees_code, and those below
        std::uint8_t rule{};  ///< what a hit does: in rules_
        bool is(unsigned flag) const { return (flags & flag) != 0; }
        void change(unsigned without, unsigned with) {
            flags = static_cast<std::uint8_t>((flags & ~without) | with);
        }
        bool asked() const { return is(calls | abi::control::frees_code | loads_modules); }
    };
    static constexpr std::uint8_t calls = 4, ///< somebody has asked for it
        loads_modules = 8,                   ///< abi::chosen::loads_modules
        plain = 16,                          ///< it needs a step, and the next one is behind it
        other_code = 32;                     ///< it ends, since the guest has another instruction
    static constexpr std::uint32_t no_code = 1;
    static constexpr unsigned most = 0xffff; ///< immediates of HVC, without 0

    /// Of a CPU.
    struct Hit {
        std::uint32_t recorded, sp; ///< PC of what traps again, and has its record; 0: nothing
        std::uint32_t stepped, pa;  ///< PC of the step, and where that lies
        std::uint32_t counts;       ///< not 0: let_count() waits
    };
    /// What becomes of a call. again: not known yet, the guest tries again.
    enum class Verdict : std::uint8_t { again, hold, record, fire };

    /// As PL1 sees it, whatever the mode in which this CPU has trapped.
    static constexpr Frame privileged{
        .r = {}, .lr_usr = 0, .pc = 0, .psr = static_cast<std::uint32_t>(arch::Mode::svc)};

    // What a hit does (probes.cpp).
    static bool is_at(const Probe& probe, const Frame& frame);
    Outcome hit(Cpu& cpu, Frame& frame, Probe& probe, const Probe& now);
    bool record(Cpu& cpu, const Frame& frame, Probe& probe, const Probe& now);
    void begin_step(Cpu& cpu, Frame& frame, std::uint32_t next);
    bool gets_page(Cpu& cpu, Frame& frame, arch::Hsr hsr);
    std::optional<bool> watch_return(Cpu& cpu, const Frame& frame, Probe& probe);
    void give_up(Cpu& cpu, const Frame& frame, abi::control::ProbeEnd why);
    void store(Cpu& cpu, const Frame& frame, Page& page);

    // Which there are (setting.cpp).
    auto all() const {
        return std::span(probes_, used_) |
               std::views::filter([](const Probe& p) { return p.va != no_code; });
    }
    std::uint32_t number_of(const Probe& probe) const;
    Probe* find(std::uint32_t pa) const;
    BootError add_from_the_start(Machine& machine, const Setup& setup);
    abi::control::Status add(Cpu& cpu, const abi::control::Request& r);
    abi::control::Status add(Cpu& cpu, std::uint32_t address, std::uint32_t pa, std::uint32_t word,
                             bool from_the_start, std::uint16_t id);
    bool can_have_probe(const Machine& machine, std::uint32_t pa, std::uint32_t word) const;
    abi::control::Status put(Cpu& cpu, Probe wanted, bool from_the_start);
    void take_away(Probe& probe);
    void forget_site(Probe& site);
    void forget_returns(Probe& function);
    bool end_all(Cpu& cpu);
    void end(Cpu& cpu, Probe& probe, abi::control::ProbeEnd why);
    void end_all_on(Cpu& cpu, const Page& page, abi::control::ProbeEnd why);
    void begin_all_on(Cpu& cpu, Page& page);

    // What is counted (counting.cpp).
    bool stage(const abi::control::Request& r);
    std::optional<std::uint8_t> staged_rule();
    void record_rule(Cpu& cpu, std::uint8_t number);
    void set_rule(Cpu& cpu, Probe& probe, std::uint8_t rule);
    void arm(Machine& machine, std::uint8_t rule, std::uint16_t id);
    bool fire(Cpu& cpu);
    Tally& tally(const Probe& probe, unsigned cpu) const;
    void let_count(const Machine& machine) const;
    void tell(Cpu& cpu, const Probe& probe, std::uint32_t va) const;
    Verdict judge(Cpu& cpu, const Frame& frame, const Probe& probe, const Probe& now, bool certain);

    // Code of modules (modules.cpp).
    bool module_has_its_probes(Cpu& cpu, const Frame& frame, Probe& probe);
    void read_mailbox(Cpu& cpu);
    void end_freed(Cpu& cpu, const Frame& frame, const Probe& frees);

    CodePages pages_;
    Choice& choice_;
    Stacks& stacks_;
    MovingPages& moving_;
    CallOps* next_{}; ///< of HVC #0, and of all that are not a probe's
    abi::control::Mailbox* mailbox_{};
    std::uint32_t loading_{};    ///< Mailbox::module
    std::uint64_t wait_begin_{}; ///< in ticks
    std::uint16_t answered_{};   ///< id of the last request
    bool complete_{};            ///< the module has all its probes
    Range room_, more_;          ///< for the probes, and the copies of pages
    Probe* probes_{};
    unsigned used_{}; ///< the most that there were at once
    unsigned free_{}; ///< none below is free
    Tally* tallies_{};
    unsigned cpus_{};
    /// The first one is that of probes without. Those that no probe has may change.
    static constexpr unsigned most_rules = 64;
    Rule rules_[most_rules]{};
    Rule staged_{};            ///< of the next probes
    Rule staged_of_modules_{}; ///< by the mailbox
    std::uint8_t told_rule_{}; ///< of the last one that a record says to be set from the start
    OpenCalls open_;
    bool modules_{}; ///< it is known when the kernel frees their code
    bool on_{};
    Hit hits_[abi::max_cpus]{};
};

} // namespace mmioscope
