#include "linux/caller_finder.hpp"

namespace mmioscope::linux_guest {

namespace {

constexpr std::size_t most_kept = 1 << 16; ///< addresses are the guest's, and may be anything
constexpr std::uint32_t most_words = 64;

constexpr std::uint64_t joined(std::uint32_t address, std::uint32_t function) {
    return std::uint64_t{address} << 32 | function;
}

} // namespace

std::optional<std::uint32_t> CallerFinder::find(const abi::Record& record) {
    if (changes_ != modules_.changes()) { // other code may be there now
        changes_ = modules_.changes();
        sites_.clear();
        calls_.clear();
        branches_.clear();
        shown_.clear();
    }
    std::optional<Proven>& proven = proven_[record.cpu];
    const std::optional<Site>& known = site(record);
    if (!known) {
        proven.reset();
        return std::nullopt;
    }
    const Site site = *known;
    std::uint32_t caller = by_lr(record, site);
    if (caller == 0) {
        caller = by_record_before(record, site);
    }
    if (caller == 0 || site.place.kind == ReturnPlace::Kind::unknown) {
        proven.reset();
    } else {
        proven = {record.cpu_sequence, site.function.start, record.sp + site.place.depth,
                  record.task, caller};
    }
    return caller != 0 ? caller : by_stack(record, site);
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

const std::optional<CallerFinder::Site>& CallerFinder::site(const abi::Record& record) {
    const std::uint32_t pc = record.pc & ~1u;
    if (const auto known = sites_.find(pc); known != sites_.end()) {
        return known->second;
    }
    if (sites_.size() == most_kept) {
        sites_.clear();
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

// Whoever returns to `address` has called `function`, so far as the call itself tells, or LR did.
bool CallerFinder::calls(std::uint32_t address, std::uint32_t function) {
    const std::optional<Call> before = call(address);
    return before && ((before->target && goes_to(*before->target, function)) ||
                      shown_.contains(joined(address, function)));
}

std::uint32_t CallerFinder::by_lr(const abi::Record& record, const Site& site) {
    if (site.place.kind != ReturnPlace::Kind::lr) {
        return calls(record.lr, site.function.start) ? record.lr : 0;
    }
    const std::optional<Call> before = call(record.lr);
    if (!before) {
        return 0;
    }
    if (before->target != site.function.start) {
        if (shown_.size() == most_kept) {
            shown_.clear();
        }
        shown_.insert(joined(record.lr, site.function.start));
    }
    return record.lr;
}

// A loop that has LR for its data: the same function with the same frame, and nothing between.
std::uint32_t CallerFinder::by_record_before(const abi::Record& record, const Site& site) const {
    const std::optional<Proven>& before = proven_[record.cpu];
    const bool goes_on =
        before && site.place.kind != ReturnPlace::Kind::unknown &&
        before->sequence + 1 == record.cpu_sequence && before->function == site.function.start &&
        before->stack == record.sp + site.place.depth && before->task == record.task;
    return goes_on ? before->caller : 0;
}

std::uint32_t CallerFinder::by_stack(const abi::Record& record, const Site& site) {
    if (site.place.kind == ReturnPlace::Kind::stack) {
        const std::uint32_t word = space_.word(record.sp + site.place.offset).value_or(0);
        return calls(word, site.function.start) ? word : 0;
    }
    if (site.place.kind == ReturnPlace::Kind::lr) {
        return 0;
    }
    std::uint32_t at = record.sp;
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
