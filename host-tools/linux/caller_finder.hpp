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
#include <unordered_map>
#include <unordered_set>

namespace mmioscope::linux_guest {

class CallerFinder {
public:
    /// `functions`: the kernel's own; `modules` has the others. Both stay the caller's.
    CallerFinder(const Kernel& kernel, const symbols::FunctionTable& functions,
                 const ModuleWatch& modules)
        : space_(kernel.space), functions_(functions), modules_(modules) {}

    /// The guest has run since: what its stacks have is to be read anew.
    void look_anew();

    /// Of `record`, which is of the kernel's code. Records of one CPU come in its order. 0: none
    /// is known, LR is not it. Nothing: it is not known what function the PC is in.
    std::optional<std::uint32_t> find(const abi::Record& record);

    /// `record` tells of a task. It stands in front of an access, of the same trap, so the guest
    /// did nothing between the record before and that access either.
    void pass(const abi::Record& record);

private:
    /// What is known of a PC.
    struct Site {
        symbols::Extent function;
        ReturnPlace place;
    };
    /// An access that LR proved the caller of, or one right behind such an access.
    struct Proven {
        std::uint32_t sequence, function, stack, task, caller;
    };

    void forget_code();
    std::optional<symbols::Extent> function(std::uint32_t pc) const;
    const std::optional<Site>& site_of(const abi::Record& record);
    const std::optional<Site>& site(const abi::Record& record);
    std::optional<Call> call(std::uint32_t address);
    bool goes_to(std::uint32_t from, std::uint32_t function);
    bool calls(std::uint32_t address, std::uint32_t function);
    bool is_call(std::uint32_t address, std::uint32_t function);
    std::uint32_t by_lr(std::uint32_t lr, const Site& site);
    std::uint32_t by_intact_lr(std::uint32_t lr, std::uint32_t function);
    void show(std::uint32_t address, std::uint32_t function);
    static bool goes_on(const Proven& before, const abi::Record& record, const Site& site);
    std::uint32_t by_stack(std::uint32_t sp, const Site& site);

    AddressSpace space_;
    const symbols::FunctionTable& functions_;
    const ModuleWatch& modules_;
    unsigned changes_ = 0;
    std::unordered_map<std::uint32_t, std::optional<Site>> sites_; ///< by PC
    std::unordered_map<std::uint32_t, Call> calls_;                ///< by return address
    std::unordered_map<std::uint64_t, bool> branches_; ///< by two functions' starts: to the second
    /// Calls by a register that LR has shown to go to a function: return address and function.
    std::unordered_set<std::uint64_t> shown_;
    std::array<std::optional<Proven>, 256> proven_; ///< by CPU
    // Since look_anew(), and since there is other code, or more that LR has shown.
    RecentAnswers<const std::optional<Site>*> recent_sites_; ///< in sites_, by PC
    RecentAnswers<bool> recent_calls_;                       ///< by return address and function
    RecentAnswers<std::uint32_t> recent_lr_; ///< by LR and function, which has left it as it was
    RecentAnswers<std::uint32_t> recent_by_stack_; ///< by SP and PC
};

} // namespace mmioscope::linux_guest
