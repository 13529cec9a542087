#include "analysis/register_verdict.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace mmioscope::analysis {

namespace {

std::string counted(const DistinctValues& values) {
    return fmt::format("{}{}", values.count(), values.full() ? " or more" : "");
}

/// Bits that the next read never gives again, if it comes at once: four times, and they stay zero.
std::uint32_t cleared_by_reads(const RegisterEvidence& e) {
    std::uint32_t bits = 0;
    for (std::size_t bit = 0; bit < e.dropped.size(); ++bit) {
        bits |= e.dropped[bit] >= 4 ? std::uint32_t{1} << bit : 0;
    }
    return bits & ~e.held & e.rested;
}
Verdict read_clears(std::uint32_t bits) {
    return {"read-clears", fmt::format("bits {:#x} that were read as one, and read again at once, "
                                       "were zero each time",
                                       bits)};
}

/// Each read moves a further word: half of the reads follow one, perhaps after a look at a status.
bool drains(const RegisterEvidence& e) {
    return e.read.full() && e.drained * 2 >= e.reads;
}

/// A counter goes on: it has not changed for four times as long as it had been read until then.
bool stopped(const RegisterEvidence& e) {
    return e.stayed_last >= 8 && e.last_read - e.last_change >= 4 * (e.last_change - e.first_read);
}

Verdict of_reads(const RegisterEvidence& e) {
    const std::uint64_t changed = e.rose + e.fell;
    const std::uint64_t pairs = changed + e.stayed;
    if (changed == 0) {
        return e.read.count() == 1
                   ? Verdict{"constant so far", fmt::format("reads: {}, all the same", e.reads)}
               : e.uncertain || e.stayed == 0
                   ? Verdict{"unclear", "each CPU reads another value, or values are not certain"}
                   : Verdict{"constant so far",
                             fmt::format("reads: {}, by each CPU all the same", e.reads)};
    }
    if (changed >= 2 && e.by_others == changed) {
        return {"status", fmt::format("its {} changes are of bits that were written to another "
                                      "register",
                                      changed)};
    }
    const std::uint64_t one_way = std::max(e.rose, e.fell);
    if (changed >= 4 && e.read.count() >= 5 && one_way * 10 >= changed * 9) {
        return {"counter", fmt::format("{} of {} changes {}", one_way, changed,
                                       e.rose >= e.fell ? "rose" : "fell")};
    }
    if (changed >= 2 && stopped(e)) {
        return {"status", fmt::format("changed {} times, and then no more in {} reads", changed,
                                      e.stayed_last)};
    }
    if (changed >= 2 && one_way == changed && e.read.count() == changed + 1) {
        return {"counter so far",
                fmt::format("{} of {} changes {}", one_way, changed, e.rose > 0 ? "rose" : "fell")};
    }
    if (drains(e)) {
        return {"fifo", fmt::format("{} of {} reads differ from the one before", changed, pairs)};
    }
    if (const std::uint32_t bits = cleared_by_reads(e); bits != 0) {
        return read_clears(bits);
    }
    if (!e.read.full() && changed < e.read.count()) { // as a status, a counter or data would
        return {"unclear",
                fmt::format("{} of {} reads changed without a write, to no earlier value", changed,
                            pairs)};
    }
    return {"status", fmt::format("{} of {} reads changed without a write, bits {:#x}", changed,
                                  pairs, e.moved)};
}

Verdict of_writes(const RegisterEvidence& e) {
    if (e.others_cleared >= 2 && e.others_cleared * 4 >= e.others_shown * 3) {
        return {"clear", fmt::format("{} of {} writes cleared these bits of another register",
                                     e.others_cleared, e.others_shown)};
    }
    // A command, always the same, may set a bit of its status.
    if (e.others_set >= 2 && e.others_set * 4 >= e.others_unset * 3 && e.written.count() >= 2) {
        return {"set", fmt::format("{} of {} writes set these bits of another register",
                                   e.others_set, e.others_unset)};
    }
    if (e.written.full() && e.streamed * 2 >= e.writes) {
        return {"fifo", fmt::format("{} of {} writes follow one to it", e.streamed, e.writes)};
    }
    return {"never read back",
            fmt::format("writes: {}, different values: {}", e.writes, counted(e.written))};
}

// A bit is stored if it was written and read as one and as zero, and never changed alone.
std::uint32_t stored(const RegisterEvidence& e) {
    return e.ones & e.zeros & ~e.not_one & ~e.not_zero & ~e.moved;
}

Verdict of_both(const RegisterEvidence& e) {
    if (e.read_back == 0 && e.chosen_alike == 0) {
        return {"unclear", "no read right after a write"};
    }
    const std::uint64_t changed = e.rose + e.fell;
    // Storage would stay, and a counter keep its direction.
    if (drains(e) && changed >= e.stayed && std::min(e.rose, e.fell) * 10 > changed) {
        return {"fifo", fmt::format("{} of {} reads without a write differ from the one before",
                                    changed, changed + e.stayed)};
    }
    // A device may raise a bit again before it is read; then zeros that change nothing tell.
    const bool zeros_keep = e.kept >= 2 && e.lost == 0 && e.set == 0;
    if (e.cleared >= 2 && (zeros_keep || e.cleared * 4 >= e.ones_to_ones * 3)) {
        return {"w1c", fmt::format("{} of {} writes cleared", e.cleared, e.ones_to_ones)};
    }
    // Who acknowledges writes what was read. It may be raised again before the next read.
    if (e.gone >= 2 && e.repeated * 4 >= e.writes * 3) {
        return {"w1c",
                fmt::format("{} of {} writes repeat what was read, and cleared bits {} times",
                            e.repeated, e.writes, e.gone)};
    }
    if (e.set >= 1 && e.kept >= 1 && e.lost == 0) {
        return {"set",
                fmt::format("{} writes set bits, and {} left others as they were", e.set, e.kept)};
    }
    if (const std::uint32_t mask = stored(e); mask != 0 && e.agreed * 2 >= e.read_back) {
        const std::uint32_t alone = e.not_one & ~e.ones;
        return {"storage",
                fmt::format("mask {:#x}: {} of {} writes were read back{}", mask, e.agreed,
                            e.read_back,
                            alone == 0 ? "" : fmt::format(", bits {:#x} read as zero", alone))};
    }
    // Something else, such as a reset, may change a register that gives back what was written.
    if (const std::uint32_t bits = e.ones & e.zeros;
        bits != 0 && e.read_back >= 16 && e.agreed * 10 >= e.read_back * 9) {
        return {"storage", fmt::format("mask {:#x}: {} of {} writes were read back", bits, e.agreed,
                                       e.read_back)};
    }
    if (e.agreed == e.read_back) {
        return {"storage so far",
                fmt::format("read back: {}, no bit as one and as zero", e.agreed)};
    }
    if (e.agreed == 0 && e.read.full() && e.written.full() && stored(e) == 0) {
        return {"fifo", fmt::format("none of {} writes was read back", e.read_back)};
    }
    if (e.chosen_alike >= 2 && e.chosen_changed >= 4 &&
        (e.chosen_alike + e.chosen_changed) >= 9 * e.chosen_differ) {
        return {"data", fmt::format("{} of {} reads follow what was written to another register",
                                    e.chosen_alike + e.chosen_changed,
                                    e.chosen_alike + e.chosen_changed + e.chosen_differ)};
    }
    if (const std::uint32_t bits = cleared_by_reads(e); bits != 0) {
        return read_clears(bits);
    }
    const bool counts = std::max(e.rose, e.fell) * 10 >= changed * 9;
    if (e.agreed == 0 && changed >= 2 && changed >= e.read.count() && !counts) {
        return {"status", fmt::format("{} of {} reads changed without a write, and none of {} "
                                      "writes was read back",
                                      changed, changed + e.stayed, e.read_back)};
    }
    if (e.not_one != 0 && (e.not_one & e.ones) == 0 && e.read_back >= 2) {
        // If what is read does not follow what is written, writes may have no effect at all.
        const bool follows = (e.ones & e.zeros) != 0 || (e.read.count() >= 2 && e.moved == 0);
        return {e.ones != 0 && follows ? "self-clear" : "self-clear so far",
                fmt::format("bits {:#x} were written as one and read as zero", e.not_one)};
    }
    // A part of it keeps what is written; the rest is an answer.
    if (const std::uint32_t mask = stored(e); mask != 0 && e.read_back >= 16) {
        return {"storage",
                fmt::format("mask {:#x}: these bits were read back {} times", mask, e.read_back)};
    }
    return {"unclear", fmt::format("{} of {} writes were read back", e.agreed, e.read_back)};
}

} // namespace

bool Verdict::claims() const {
    return name != "never read back" && name != "unclear" && !name.ends_with("so far");
}

Verdict verdict_of(const RegisterEvidence& e) {
    return e.writes == 0 ? of_reads(e) : e.reads == 0 ? of_writes(e) : of_both(e);
}

bool commands(const RegisterEvidence& e, const RegisterEvidence& other) {
    return e.late >= 4 && e.late * 4 >= e.waited * 3 && (e.late_up | e.late_down) != 0 &&
           e.late * 4 >= other.late_by_any * 3;
}

} // namespace mmioscope::analysis
