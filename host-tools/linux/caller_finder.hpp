// Finds the return address of the kernel's function that made an access.
//
// LR has it until the function uses LR for something else; the stack has it later, but is read some
// milliseconds behind the access. What the stack has counts only if it stands behind a call to this
// very function.
#pragma once

#include "abi/record.hpp"
#include "linux/call_site.hpp"
#include "linux/module_watch.hpp"
#include "linux/recent_answers.hpp"
#include "linux/return_place.hpp"

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <unordered_map>
#include <unordered_set>

namespace mmioscope::linux_guest {

class CallerFinder {
public:
    /// `functions`: the kernel's own; `modules` has the others. Both stay the caller's.
    CallerFinder(const Kernel& kernel, const symbols::FunctionTable& functions,
                 const ModuleWatch& modules)
        : space_(kernel.space), functions_(functions), modules_(modules) {}

    /// The guest has run since: what its stacks have is to be read anew, and other modules may be
    /// there.
    void look_anew();

    /// Of the first ones of `records`, one at least.
    struct Found {
        /// 0: none is known, LR is not it. Nothing: it is not known what function the PC is in.
        std::optional<std::uint32_t> caller;
        std::size_t count;      ///< so many of them have it
        std::size_t told_by_lr; ///< the first ones of these, whose LR is the caller
    };

    /// `records` are of one run (lib/runs.hpp) of one task, and of the kernel's code. Records of
    /// one CPU come in its order.
    Found find(std::span<const abi::Record> records);

    /// `record` tells of a task. It stands in front of an access, of the same trap, so the guest
    /// did nothing between the record before and that access either.
    void pass(const abi::Record& record);

private:
    /// What is known of a PC.
    struct Site {
        bool known = false; ///< which function it is in
        symbols::Extent function{};
        ReturnPlace place{};
        std::uint64_t frame = 0; ///< the same for places that need not be told apart
    };
    static constexpr std::size_t recent_sites = 512;
    struct RecentSite {
        std::uint32_t pc = 1; ///< this is none
        const Site* site = nullptr;
    };
    /// An access that LR proved the caller of, or one right behind such an access.
    struct Proven {
        std::uint32_t sequence, function, stack, task, caller;
    };

    std::uint32_t find(const abi::Record& record, const Site& site, std::optional<Proven>& proven);
    void forget_sites();
    void forget_answers();
    std::optional<symbols::Extent> function(std::uint32_t pc) const;
    const Site* recent_with(std::uint64_t frame, std::uint32_t pc) const;
    const abi::Record* end_of_same(const abi::Record* at, const abi::Record* end,
                                   std::uint64_t frame) const;
    const Site& site_of(const abi::Record& record);
    const Site& new_site(const abi::Record& record);
    const Call* call(std::uint32_t address);
    bool goes_to(std::uint32_t from, std::uint32_t function);
    bool calls(std::uint32_t address, std::uint32_t function);
    std::uint32_t by_lr(std::uint32_t lr, const Site& site);
    std::uint32_t by_new_lr(std::uint32_t lr, const Site& site);
    void show(std::uint32_t address, std::uint32_t function);
    static bool goes_on(const Proven& before, const abi::Record& record, const Site& site);
    std::uint32_t by_stack(std::uint32_t sp, const Site& site);

    AddressSpace space_;
    const symbols::FunctionTable& functions_;
    const ModuleWatch& modules_;
    unsigned changes_ = 0;
    std::unordered_map<std::uint32_t, Site> sites_;    ///< by PC
    std::unordered_map<std::uint32_t, Call> calls_;    ///< by return address
    std::unordered_map<std::uint64_t, bool> branches_; ///< by two functions' starts: to the second
    /// Calls by a register that LR has shown to go to a function: return address and function.
    std::unordered_set<std::uint64_t> shown_;
    std::array<std::optional<Proven>, 256> proven_; ///< by CPU
    /// Those of sites_ that were asked for last. Each has one place where it may be, by its PC.
    std::array<RecentSite, recent_sites> recent_sites_;
    // Since look_anew(), and since there is other code, or more that LR has shown.
    RecentAnswers<std::uint32_t> recent_by_lr_;    ///< by LR and function, and if that changes LR
    RecentAnswers<std::uint32_t> recent_by_stack_; ///< by SP and PC
};

} // namespace mmioscope::linux_guest
