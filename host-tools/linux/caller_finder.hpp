// Finds the return address of the kernel function that made an access, if LR does not have it.
//
// LR has the return address until the function uses LR for something else; then the stack has it,
// but the stack is read some milliseconds after the access. A value on the stack counts only if it
// follows a call to this very function.
#pragma once

#include "abi/record.hpp"
#include "linux/module_watch.hpp"
#include "linux/return_place.hpp"
#include "linux/task_layout.hpp"
#include "records/callers.hpp"
#include "records/runs.hpp"
#include "rings/recorder.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <unordered_map>
#include <unordered_set>
#include <vector>

namespace mmioscope::linux_guest {

// A cache of recent questions and their answers, for questions that records ask repeatedly and
// whose answers change with the guest's memory.

/// Answers to questions of two words. Each question has one slot, so a lookup takes a few
/// instructions, and a newer question replaces the old one.
template <typename Answer>
class RecentAnswers {
public:
    /// The answer since the last forget(), or that of `ask()`.
    template <typename Ask>
    const Answer& of(std::uint32_t first, std::uint32_t second, Ask&& ask) {
        constexpr std::uint32_t golden =
            0x9e37'79b1; // 2^32 divided by the golden ratio: spreads neighbours
        Entry& entry = entries_[((first ^ second << 8) * golden) >> (32 - bits)];
        if (entry.turn != turn_ || entry.first != first || entry.second != second) [[unlikely]] {
            // Store after the call: `ask` may call forget().
            const Answer answer = ask();
            entry = {turn_, first, second, answer};
        }
        return entry.answer;
    }

    void forget() {
        ++turn_;
        if (turn_ == 0) { // wrapped after 2^32 turns
            entries_.fill({});
            turn_ = 1;
        }
    }

private:
    static constexpr unsigned bits = 9;
    struct Entry {
        std::uint32_t turn = 0; ///< 0: none
        std::uint32_t first, second;
        Answer answer;
    };
    std::uint32_t turn_ = 1;
    std::array<Entry, std::size_t{1} << bits> entries_{};
};

class CallerFinder {
public:
    /// `functions` are the kernel's own; `modules` has the others. The caller owns both.
    CallerFinder(const Kernel& kernel, const symbols::FunctionTable& functions,
                 ModuleWatch& modules)
        : space_(kernel.space), functions_(functions), modules_(modules), code_(code()) {}

    /// The caller for each record of `runs`; empty if LR is right for all. The runs follow each
    /// other; each CPU's are in order, and each is of one task. Valid until the next call. Reads
    /// stacks anew in each call, because the guest has run since. Looks for new modules at time
    /// `now`.
    std::span<const trace::Caller> see(std::span<const trace::Run> runs,
                                       ModuleWatch::Clock::time_point now);

private:
    /// What is known about a PC.
    struct Site {
        bool known = false; ///< its function is known
        symbols::Extent function{};
        ReturnPlace place{};
        std::uint64_t frame = 0; ///< the same for places with the same frame; 0: unknown
    };
    static constexpr std::size_t recent_sites = 512;
    struct alignas(32) RecentSite {
        std::uint32_t pc = 1; ///< initially invalid
        std::uint64_t frame = 0;
        const Site* site = nullptr;
    };
    /// An access whose caller LR proved, or one right after such an access.
    struct Proven {
        std::uint32_t sequence, function, stack, task, caller;
    };

    bool see(const trace::Run& run, trace::Caller* to);
    trace::Caller by_own_stack(std::span<const abi::Record> group);
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
    AddressRange code_;                                ///< contains all known code
    std::unordered_map<std::uint32_t, Site> sites_;    ///< by PC
    std::unordered_map<std::uint32_t, Call> calls_;    ///< by return address
    std::unordered_map<std::uint64_t, bool> branches_; ///< from one function's start to the other's
    /// Calls by register that LR has shown to reach a function: return address and function.
    std::unordered_set<std::uint64_t> shown_;
    std::array<std::optional<Proven>, 256> proven_; ///< by CPU
    /// Recently used entries of sites_. Each has one possible place, by its PC.
    std::array<RecentSite, recent_sites> recent_sites_;
    // Valid within see(), and until code or shown_ changes.
    RecentAnswers<std::uint32_t> recent_by_lr_;    ///< by LR, function, and whether that changes LR
    RecentAnswers<std::uint32_t> recent_by_stack_; ///< by SP and PC
};

// What a recorder that can read the guest's RAM adds to a trace of Linux: tasks, modules and
// callers.

class Onlooker : public rings::Onlooker {
public:
    /// `frequency` is that of the records' times, in Hz. `functions` are the kernel's, and belong
    /// to the caller. `stacks`: records have some.
    Onlooker(const PhysicalMemory& memory, std::uint32_t frequency,
             const symbols::FunctionTable& functions, bool stacks = false)
        : frequency_(frequency), functions_(functions), stacks_(stacks), finder_(memory) {}

    void see(std::span<const abi::Record> records, std::span<const trace::Run> runs,
             trace::FileWriter& file) override;

private:
    void write(std::span<const abi::Record> records, std::span<const trace::Run> runs,
               trace::FileWriter& file);

    std::uint32_t frequency_;
    const symbols::FunctionTable& functions_;
    bool stacks_;
    std::uint64_t time_ = 0; ///< of the last record
    KernelFinder finder_;
    std::optional<TaskWatch> tasks_;
    std::optional<ModuleWatch> modules_;
    std::optional<CallerFinder> callers_;
    std::vector<trace::TaskEntry> tasks_found_;
};

} // namespace mmioscope::linux_guest
