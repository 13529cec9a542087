// Finds the return address of the kernel function that made an access, if LR does not have it.
//
// LR has the return address until the function uses LR for something else; then the stack has it,
// but the stack is read some milliseconds after the access. A value on the stack counts only if it
// follows a call to this very function.
#pragma once

#include "abi/record.hpp"
#include "linux/call_site.hpp"
#include "linux/module_watch.hpp"
#include "linux/recent_answers.hpp"
#include "linux/return_place.hpp"
#include "records/callers.hpp"
#include "records/runs.hpp"

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <unordered_map>
#include <unordered_set>
#include <vector>

namespace mmioscope::linux_guest {

class CallerFinder {
public:
    /// `functions`: the kernel's own; `modules` has the others. Both stay the caller's.
    CallerFinder(const Kernel& kernel, const symbols::FunctionTable& functions,
                 ModuleWatch& modules)
        : space_(kernel.space), functions_(functions), modules_(modules), code_(code()) {}

    /// Of each record of `runs`, which lie behind one another, those of each CPU in its order, each
    /// of one task. Nothing, where LR holds for all. It holds until the next call. The guest has
    /// run since the last one: what its stacks have is read anew. Modules that are met are looked
    /// for at `now`.
    std::span<const trace::Caller> see(std::span<const trace::Run> runs,
                                       ModuleWatch::Clock::time_point now);

private:
    /// What is known of a PC.
    struct Site {
        bool known = false; ///< which function it is in
        symbols::Extent function{};
        ReturnPlace place{};
        std::uint64_t frame = 0; ///< the same for places that need not be told apart; 0: not known
    };
    static constexpr std::size_t recent_sites = 512;
    struct alignas(32) RecentSite {
        std::uint32_t pc = 1; ///< this is none
        std::uint64_t frame = 0;
        const Site* site = nullptr;
    };
    /// An access that LR proved the caller of, or one right behind such an access.
    struct Proven {
        std::uint32_t sequence, function, stack, task, caller;
    };

    bool see(const trace::Run& run, trace::Caller* to);
    void pass(const abi::Record& record);
    std::uint32_t find(const abi::Record& record, const Site& site, std::optional<Proven>& proven);
    void follow_modules();
    void forget_sites();
    void forget_answers();
    std::optional<symbols::Extent> function(std::uint32_t pc) const;
    RecentSite& recent_place(std::uint32_t pc) {
        return recent_sites_[pc % (4 * recent_sites) / 4];
    }
    AddressRange code() const;
    const Site& site_of(const abi::Record& record);
    const Site& site_met(const abi::Record& record);
    const Site& new_site(const abi::Record& record);
    const Call* call(std::uint32_t address);
    bool goes_to(std::uint32_t from, std::uint32_t function);
    bool calls(std::uint32_t address, std::uint32_t function);
    bool is_data(std::uint32_t lr, const Site& site) const;
    std::uint32_t by_lr(std::uint32_t lr, const Site& site);
    std::uint32_t by_new_lr(std::uint32_t lr, const Site& site);
    void show(std::uint32_t address, std::uint32_t function);
    bool goes_with(std::uint32_t lr, std::uint32_t caller, const Site& site);
    static bool goes_on(const Proven& before, const abi::Record& record, const Site& site);
    std::uint32_t by_stack(std::uint32_t sp, const Site& site);

    AddressSpace space_;
    const symbols::FunctionTable& functions_;
    ModuleWatch& modules_;
    ModuleWatch::Clock::time_point now_{};
    std::vector<trace::Caller> callers_;
    unsigned changes_ = 0;
    AddressRange code_;                                ///< all code that is known is in it
    std::unordered_map<std::uint32_t, Site> sites_;    ///< by PC
    std::unordered_map<std::uint32_t, Call> calls_;    ///< by return address
    std::unordered_map<std::uint64_t, bool> branches_; ///< by two functions' starts: to the second
    /// Calls by a register that LR has shown to go to a function: return address and function.
    std::unordered_set<std::uint64_t> shown_;
    std::array<std::optional<Proven>, 256> proven_; ///< by CPU
    /// Those of sites_ that were asked for last. Each has one place where it may be, by its PC.
    std::array<RecentSite, recent_sites> recent_sites_;
    // Since see() began, and since there is other code, or more that LR has shown.
    RecentAnswers<std::uint32_t> recent_by_lr_;    ///< by LR and function, and if that changes LR
    RecentAnswers<std::uint32_t> recent_by_stack_; ///< by SP and PC
};

} // namespace mmioscope::linux_guest
