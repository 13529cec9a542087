#include "linux/caller_finder.hpp"

#include "records/module_table.hpp"

#include <algorithm>
#include <cstring>

namespace mmioscope::linux_guest {

namespace {

constexpr std::size_t most_kept = 1 << 16; ///< limits caches: a guest may have any addresses
constexpr std::uint32_t most_words = 64;

constexpr std::uint64_t joined(std::uint32_t address, std::uint32_t function) {
    return std::uint64_t{address} << 32 | function;
}

// LR in the low half, and SP above: usually both are as in the previous record.
std::uint64_t lr_and_sp(const abi::Record& record) {
    static_assert(offsetof(abi::Record, sp) == offsetof(abi::Record, lr) + 4);
    std::uint64_t word;
    std::memcpy(&word, reinterpret_cast<const std::byte*>(&record) + offsetof(abi::Record, lr),
                sizeof word);
    return word;
}

// The same for all places of a function with equal distances to SP and the return address;
// otherwise unique.
constexpr std::uint64_t frame_of(std::uint32_t function, const ReturnPlace& at, std::uint32_t pc) {
    static_assert(stack_size << 2 < 1 << 16); // neither number is greater
    return at.kind == ReturnPlace::Kind::unknown
               ? ~std::uint64_t{pc}
               : joined(function, at.depth << 16 | at.offset << 2) |
                     static_cast<std::uint32_t>(at.kind);
}

} // namespace

std::span<const trace::Caller> CallerFinder::see(std::span<const trace::Run> runs,
                                                 ModuleWatch::Clock::time_point now) {
    now_ = now;
    forget_answers();
    follow_modules();
    std::size_t count = 0;
    for (const trace::Run& run : runs) {
        count += run.count;
    }
    callers_.resize(std::max(callers_.size(), count));
    trace::Caller* to = callers_.data();
    bool elsewhere = false;
    for (const trace::Run& run : runs) {
        if (run.first->type == abi::RecordType::task) {
            pass(*run.first);
            *to = trace::lr_holds;
        } else if (abi::goes_on(*run.first) && trace::in_kernel(*run.first)) { // alone in its run
            *to = by_own_stack({run.first, runs.back().last + 1});
            elsewhere |= *to != trace::lr_holds;
        } else if (trace::in_kernel(*run.first)) {
            elsewhere |= see(run, to);
        } else {
            std::fill_n(to, run.count, trace::lr_holds);
        }
        to += run.count;
    }
    return std::span(callers_).first(elsewhere ? count : 0);
}

void CallerFinder::follow_modules() {
    if (changes_ != modules_.changes()) { // there may be other code now
        changes_ = modules_.changes();
        code_ = code();
        forget_sites();
        calls_.clear();
        branches_.clear();
        shown_.clear();
    }
}

void CallerFinder::forget_answers() {
    recent_by_lr_.forget();
    recent_by_stack_.forget();
}

void CallerFinder::forget_sites() {
    sites_.clear();
    recent_sites_.fill({});
    forget_answers();
}

// A return address may be right after the last function, and have bit 0 set. If the kernel's
// functions are unknown, code may be anywhere.
AddressRange CallerFinder::code() const {
    const symbols::Reach kernel = functions_.code();
    if (kernel.first > kernel.last) {
        return {0, UINT32_MAX};
    }
    symbols::Reach all = modules_.code();
    all.add(kernel.first, kernel.last);
    return {
        static_cast<std::uint32_t>(all.first),
        static_cast<std::uint32_t>(std::min<std::uint64_t>(all.last + 2 - all.first, UINT32_MAX))};
}

// Loops use LR for data, mostly values that are not code addresses. An intact LR is a code address,
// even if it is in a module not found yet.
inline bool CallerFinder::is_data(std::uint32_t lr, const Site& site) const {
    return !code_.has(lr) && site.place.kind != ReturnPlace::Kind::lr;
}

// LR is known to be intact only in functions that begin at a multiple of 4. So bit 0 is free for
// the key.
inline std::uint32_t CallerFinder::by_lr(std::uint32_t lr, const Site& site) {
    if (is_data(lr, site)) {
        return 0;
    }
    const std::uint32_t intact = site.place.kind == ReturnPlace::Kind::lr ? 1 : 0;
    return recent_by_lr_.of(lr, site.function.start | intact, [&] { return by_new_lr(lr, site); });
}

// A loop that uses LR for data: the same function with the same frame, and nothing in between.
inline bool CallerFinder::goes_on(const Proven& before, const abi::Record& record,
                                  const Site& site) {
    return site.place.kind != ReturnPlace::Kind::unknown &&
           before.sequence + 1 == record.cpu_sequence && before.function == site.function.start &&
           before.stack == record.sp + site.place.depth && before.task == record.task;
}

[[gnu::always_inline]] inline std::uint32_t
CallerFinder::find(const abi::Record& record, const Site& site, std::optional<Proven>& proven) {
    const std::uint32_t caller = by_lr(record.lr, site);
    if (proven && goes_on(*proven, record, site)) {
        proven->sequence = record.cpu_sequence;
        proven->caller = caller != 0 ? caller : proven->caller;
        return proven->caller;
    }
    if (caller == 0 || site.place.kind == ReturnPlace::Kind::unknown) {
        proven.reset();
    } else {
        proven = {record.cpu_sequence, site.function.start, record.sp + site.place.depth,
                  record.task, caller};
    }
    return caller != 0 || site.place.kind == ReturnPlace::Kind::lr
               ? caller
               : recent_by_stack_.of(record.sp, record.pc & ~1u,
                                     [&] { return by_stack(record.sp, site); });
}

// Whether a function that returns to `caller` may have `lr` as data.
inline bool CallerFinder::goes_with(std::uint32_t lr, std::uint32_t caller, const Site& site) {
    if (is_data(lr, site)) {
        return true;
    }
    const std::uint32_t by_it = by_lr(lr, site);
    return (by_it == 0 || by_it == caller) && !modules_.is_strange(lr);
}

// Repeats an answer while the next records ask the same question, even from another place with the
// same frame. A proven caller stays whatever LR is, unless LR proves another one. False: LR is
// right for all.
bool CallerFinder::see(const trace::Run& run, trace::Caller* to) {
    const abi::Record* at = run.first;
    const abi::Record* const end = at + run.count;
    std::optional<Proven>& proven = proven_[at->cpu];
    bool elsewhere = false;
    while (at != end) {
        const Site& site = site_met(*at);
        if (!site.known) {
            proven.reset();
            *to++ = trace::lr_holds;
            ++at;
            continue;
        }
        const std::uint32_t caller = find(*at, site, proven);
        const std::uint64_t frame = site.frame;
        const std::uint32_t sp = at->sp;
        std::uint32_t pc = at->pc;
        std::uint64_t registers;
        trace::Caller word;
        const auto update = [&] {
            registers = lr_and_sp(*at);
            word = caller == at->lr ? trace::lr_holds : caller;
            elsewhere |= caller != at->lr;
        };
        update();
        do {
            *to++ = word;
            if (++at == end) {
                break;
            }
            if (at->pc != pc) {
                pc = at->pc;
                const RecentSite& recent = recent_place(pc);
                if (recent.pc != pc || recent.frame != frame) {
                    break;
                }
            }
            if (lr_and_sp(*at) != registers) {
                if (!proven || at->sp != sp || !goes_with(at->lr, caller, site)) {
                    break;
                }
                update();
            }
        } while (true);
        if (proven) {
            proven->sequence = at[-1].cpu_sequence;
        }
    }
    return elsewhere;
}

// The word of the stack is as it was at the access. So a call by a register that stands before it
// goes to this function.
trace::Caller CallerFinder::by_own_stack(std::span<const abi::Record> group) {
    const abi::Record& record = group[0];
    proven_[record.cpu].reset();
    const Site& site = site_met(record);
    if (!site.known) {
        return trace::lr_holds;
    }
    std::uint32_t caller = by_lr(record.lr, site);
    if (site.place.kind == ReturnPlace::Kind::stack) {
        const std::vector<std::uint32_t> stack = trace::stack_of(group);
        const std::size_t at = trace::stack_registers + site.place.offset / 4;
        const std::uint32_t word = at < stack.size() ? stack[at] : 0;
        const Call* const before = code_.has(word) ? call(word) : nullptr;
        if (before != nullptr && !before->target) {
            show(word, site.function.start);
        }
        caller = before != nullptr ? word : 0;
    }
    return caller; // also if it is in LR: a reader then knows that it is right
}

// `record` names a task. It precedes an access of the same trap, so the guest did nothing between
// the previous record and that access.
void CallerFinder::pass(const abi::Record& record) {
    std::optional<Proven>& proven = proven_[record.cpu];
    if (proven && proven->sequence + 1 == record.cpu_sequence) {
        proven->sequence = record.cpu_sequence;
    }
}

std::optional<symbols::Extent> CallerFinder::function(std::uint32_t pc) const {
    const std::optional<symbols::Extent> extent = modules_.function(pc);
    return extent ? extent : functions_.extent(pc);
}

inline const CallerFinder::Site& CallerFinder::site_of(const abi::Record& record) {
    const std::uint32_t pc = record.pc & ~1u;
    RecentSite& recent = recent_place(pc);
    if (recent.pc != pc) [[unlikely]] {
        const auto known = sites_.find(pc);
        const Site& site = known != sites_.end() ? known->second : new_site(record);
        recent = {pc, site.frame, &site}; // set after new_site(), which may clear it
    }
    return *recent.site;
}

// Likewise, if `record` may be the first one of a module.
inline const CallerFinder::Site& CallerFinder::site_met(const abi::Record& record) {
    const Site& site = site_of(record);
    if ((site.known || !modules_.is_strange(record.pc)) && !modules_.is_strange(record.lr))
        [[likely]] {
        return site;
    }
    modules_.meet(record.time, now_);
    follow_modules();
    return site_of(record);
}

const CallerFinder::Site& CallerFinder::new_site(const abi::Record& record) {
    const std::uint32_t pc = record.pc & ~1u;
    if (sites_.size() == most_kept) {
        forget_sites();
    }
    Site& site = sites_[pc];
    if (const std::optional<symbols::Extent> extent = function(pc)) {
        const bool thumb = (record.mode & abi::mode_thumb) != 0;
        site = {true, *extent, thumb ? ReturnPlace{} : return_place(space_, *extent, pc)};
        site.frame = frame_of(site.function.start, site.place, pc);
    }
    return site;
}

const Call* CallerFinder::call(std::uint32_t address) {
    if (const auto known = calls_.find(address); known != calls_.end()) {
        return &known->second;
    }
    const std::optional<Call> before = call_before(space_, address);
    if (!before) {
        return nullptr;
    }
    if (calls_.size() == most_kept) {
        calls_.clear();
    }
    return &calls_.emplace(address, *before).first->second;
}

// Whether the code at `from` is `function`, or may end with a branch to it: then `function` has no
// return address of its own.
bool CallerFinder::goes_to(std::uint32_t from, std::uint32_t function) {
    if (from == function) {
        return true;
    }
    if (const auto known = branches_.find(joined(from, function)); known != branches_.end()) {
        return known->second;
    }
    if (branches_.size() == most_kept) {
        branches_.clear();
    }
    const std::optional<symbols::Extent> code = this->function(from);
    return branches_[joined(from, function)] =
               code && code->start == from && branches_out(space_, *code, function);
}

// Whether the call before `address` may be to `function`, according to the call itself or to LR.
bool CallerFinder::calls(std::uint32_t address, std::uint32_t function) {
    const Call* const before = call(address);
    return before != nullptr && ((before->target && goes_to(*before->target, function)) ||
                                 shown_.contains(joined(address, function)));
}

std::uint32_t CallerFinder::by_new_lr(std::uint32_t lr, const Site& site) {
    const std::uint32_t function = site.function.start;
    if (site.place.kind != ReturnPlace::Kind::lr) {
        return calls(lr, function) ? lr : 0;
    }
    const Call* const before = call(lr);
    if (before == nullptr) {
        return 0;
    }
    if (before->target != function) {
        show(lr, function);
    }
    return lr;
}

// Return addresses rejected before may be callers now.
void CallerFinder::show(std::uint32_t address, std::uint32_t function) {
    if (shown_.size() == most_kept) {
        shown_.clear();
        forget_answers();
    }
    if (shown_.insert(joined(address, function)).second) {
        forget_answers();
    }
}

std::uint32_t CallerFinder::by_stack(std::uint32_t sp, const Site& site) {
    if (site.place.kind == ReturnPlace::Kind::stack) {
        const std::uint32_t word = space_.word(sp + site.place.offset).value_or(0);
        return calls(word, site.function.start) ? word : 0;
    }
    std::uint32_t at = sp;
    for (std::uint32_t i = 0; i < most_words; ++i) {
        const std::optional<std::uint32_t> word = space_.word(at);
        if (!word) {
            return 0;
        }
        if (calls(*word, site.function.start)) {
            return *word;
        }
        at += 4;
        if (at % stack_size == 0) {
            return 0; // end of the stack
        }
    }
    return 0;
}

void Onlooker::see(std::span<const abi::Record> records, std::span<const trace::Run> runs,
                   trace::FileWriter& file) {
    if (!tasks_ || !tasks_->sound()) {
        tasks_.reset();
        if (const std::optional<Kernel> kernel = finder_.pass(KernelFinder::Clock::now())) {
            tasks_.emplace(*kernel, frequency_);
            modules_.emplace(*kernel, stacks_);
            callers_.emplace(*kernel, functions_, *modules_);
        }
    }
    if (tasks_) {
        write(records, runs, file);
    }
}

void Onlooker::write(std::span<const abi::Record> records, std::span<const trace::Run> runs,
                     trace::FileWriter& file) {
    tasks_found_.clear();
    tasks_->see(runs, tasks_found_);
    if (!tasks_found_.empty()) {
        file.values(trace::tasks_section, std::span<const trace::TaskEntry>(tasks_found_));
    }
    const ModuleWatch::Clock::time_point now = ModuleWatch::Clock::now();
    modules_->look_around(time_, now);
    const std::span<const trace::Caller> callers = callers_->see(runs, now); // finds new modules
    time_ = records.empty() ? time_ : records.back().time;
    if (const std::string modules = modules_->take_news(); !modules.empty()) {
        file.values(trace::modules_section, std::span(modules.data(), modules.size()));
    }
    if (!callers.empty()) {
        file.write_callers(records, callers);
    }
}

} // namespace mmioscope::linux_guest
