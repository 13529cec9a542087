#include "linux/caller_finder.hpp"

namespace mmioscope::linux_guest {

namespace {

constexpr std::size_t most_kept = 1 << 16; ///< addresses are the guest's, and may be anything
constexpr std::uint32_t most_words = 64;

constexpr std::uint64_t joined(std::uint32_t address, std::uint32_t function) {
    return std::uint64_t{address} << 32 | function;
}

} // namespace

void CallerFinder::look_anew() {
    recent_calls_.forget();
    recent_lr_.forget();
    recent_by_stack_.forget();
}

void CallerFinder::forget_code() {
    sites_.clear();
    recent_sites_.forget();
    calls_.clear();
    branches_.clear();
    shown_.clear();
    look_anew();
}

// Whoever returns to `address` has called `function`, so far as the call itself tells, or LR did.
inline bool CallerFinder::calls(std::uint32_t address, std::uint32_t function) {
    return recent_calls_.of(address, function, [&] { return is_call(address, function); });
}

inline std::uint32_t CallerFinder::by_lr(std::uint32_t lr, const Site& site) {
    const std::uint32_t function = site.function.start;
    if (site.place.kind != ReturnPlace::Kind::lr) {
        return calls(lr, function) ? lr : 0;
    }
    return recent_lr_.of(lr, function, [&] { return by_intact_lr(lr, function); });
}

// A loop that has LR for its data: the same function with the same frame, and nothing between.
inline bool CallerFinder::goes_on(const Proven& before, const abi::Record& record,
                                  const Site& site) {
    return site.place.kind != ReturnPlace::Kind::unknown &&
           before.sequence + 1 == record.cpu_sequence && before.function == site.function.start &&
           before.stack == record.sp + site.place.depth && before.task == record.task;
}

std::optional<std::uint32_t> CallerFinder::find(const abi::Record& record) {
    if (changes_ != modules_.changes()) [[unlikely]] { // other code may be there now
        changes_ = modules_.changes();
        forget_code();
    }
    std::optional<Proven>& proven = proven_[record.cpu];
    const std::uint32_t pc = record.pc & ~1u;
    const std::optional<Site>& known = *recent_sites_.of(pc, 0, [&] { return &site_of(record); });
    if (!known) {
        proven.reset();
        return std::nullopt;
    }
    const Site& site = *known;
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
               : recent_by_stack_.of(record.sp, pc, [&] { return by_stack(record.sp, site); });
}

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

const std::optional<CallerFinder::Site>& CallerFinder::site_of(const abi::Record& record) {
    const std::uint32_t pc = record.pc & ~1u;
    if (const auto known = sites_.find(pc); known != sites_.end()) {
        return known->second;
    }
    if (sites_.size() == most_kept) {
        sites_.clear();
        recent_sites_.forget();
        look_anew();
    }
    std::optional<Site>& site = sites_[pc];
    if (const std::optional<symbols::Extent> extent = function(pc)) {
        const bool thumb = (record.mode & abi::mode_thumb) != 0;
        site = {*extent, thumb ? ReturnPlace{} : return_place(space_, *extent, pc)};
    }
    return site;
}

std::optional<Call> CallerFinder::call(std::uint32_t address) {
    if (const auto known = calls_.find(address); known != calls_.end()) {
        return known->second;
    }
    const std::optional<Call> before = call_before(space_, address);
    if (before) {
        if (calls_.size() == most_kept) {
            calls_.clear();
        }
        calls_.emplace(address, *before);
    }
    return before;
}

// The code at `from` is `function`, or may end with a branch to it: that one has no return address
// of its own.
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

bool CallerFinder::is_call(std::uint32_t address, std::uint32_t function) {
    const std::optional<Call> before = call(address);
    return before && ((before->target && goes_to(*before->target, function)) ||
                      shown_.contains(joined(address, function)));
}

std::uint32_t CallerFinder::by_intact_lr(std::uint32_t lr, std::uint32_t function) {
    const std::optional<Call> before = call(lr);
    if (!before) {
        return 0;
    }
    if (before->target != function) {
        show(lr, function);
    }
    return lr;
}

// What was no caller before may be one now.
void CallerFinder::show(std::uint32_t address, std::uint32_t function) {
    if (shown_.size() == most_kept) {
        shown_.clear();
        look_anew();
    }
    if (shown_.insert(joined(address, function)).second) {
        look_anew();
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
            return 0; // the stack's end
        }
    }
    return 0;
}

} // namespace mmioscope::linux_guest
