// Writes a trace with loops in it that read a register, for the judging of `mmioscope polls`.
//
//   inject-loops SEED COUNT IN OUT
//
// A loop is drawn so, each choice as likely as the others:
//   where      behind an access of IN, in its thread; a hundred accesses are between two loops, or
//   more register   one that IN reads, other than those that say interrupts period     1 to 16
//   accesses body       one in three: all of them read the register, as an unrolled loop does; else
//   one does,
//              and the others are accesses of IN, with their values; one in three writes anything
//   value      of a read of that register in IN; one in four: a bit or two of it come and go
//   end        two in three: a bit of it changes, and the loop is left at once or after the
//   iteration;
//              else the loop is given up after an iteration
//   iterations 4 to 200 until it changes, 8 to 200 until it is given up; half, twice, and so on as
//   many
//              are as likely
//   pre-empted half of them: accesses of other threads, which follow in IN, come in between
// Prints a line for each: the number of its first and last event in OUT, its accesses, the period,
// the register's address (of a loop that is given up, of all that it reads, as none of them changes
// for good), how it ends ("value" or "given-up"), the bit, and its kind.
#include "../host-tools/trace_content.hpp"
#include "../sim/random.hpp"
#include "reading/trace.hpp"
#include "system/error.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <map>
#include <string>
#include <utility>
#include <vector>

using namespace mmioscope;
using test::TraceContent;

namespace {

constexpr unsigned stack_shift = 13; ///< Linux's stacks have 8 KiB
constexpr unsigned first_special_interrupt = 1020;

/// What a loop does.
struct Plan {
    std::vector<abi::Record> body; ///< an iteration
    std::vector<bool> polls;       ///< which of them read the register
    bool unrolled = false;
    std::uint64_t address = 0; ///< of the register
    std::uint64_t value = 0, bit = 0, noise = 0;
    bool data = false;    ///< what the others write is anything
    bool changes = false; ///< else it is given up
    bool at_once = false; ///< left at the read itself
    bool preempted = false;
    std::uint64_t iterations = 0;
};

class Injector {
public:
    Injector(const char* path, TraceContent& content, std::uint64_t seed)
        : content_(content), random_(seed), interrupt_(content.records.size()) {
        find_interrupts(path);
        for (std::size_t i = 0; i < content.records.size(); ++i) {
            const abi::Record& record = content.records[i];
            if (is_plain(i)) {
                accesses_.push_back(i);
                if (!abi::is_write(record)) {
                    reads_[{abi::physical_address(record), record.access}].push_back(i);
                }
            }
        }
        if (reads_.empty()) {
            throw bad_input("no access");
        }
    }

    void inject(unsigned count) {
        std::map<std::size_t, Plan> plans;
        std::uint64_t tries = 0;
        while (plans.size() < count) {
            if (++tries > std::uint64_t{1000} * count) {
                throw bad_input("no room for so many loops");
            }
            const std::size_t where = any(accesses_);
            const auto behind = plans.lower_bound(where);
            const bool apart =
                (behind == plans.end() || behind->first - where > most_between) &&
                (behind == plans.begin() || where - std::prev(behind)->first > most_between);
            if (apart) {
                plans[where] = plan(content_.records[where]);
            }
        }
        rebuild(plans);
    }

private:
    using Indices = std::vector<std::size_t>;

    /// Accesses of IN from one loop to the next, at least.
    static constexpr std::size_t most_between = 100;

    // As the reader of a trace tells it.
    void find_interrupts(const char* path) {
        reading::TraceOptions options;
        options.path = path;
        reading::Trace trace(options);
        step_ = trace.reader().info()->counter_frequency / 100'000;
        for (auto events = trace.next_events(); !events.empty(); events = trace.next_events()) {
            for (const Event& event : events) {
                interrupt_[event.number - 1] = event.interrupt_id() != no_id;
            }
        }
    }

    bool is_plain(std::size_t i) const {
        constexpr unsigned special =
            abi::flag_value_unknown | abi::flag_early | abi::flag_same_instruction | abi::flag_boot;
        const abi::Record& record = content_.records[i];
        return record.type == abi::RecordType::access && record.device != abi::no_device &&
               (record.flags & special) == 0 && !interrupt_[i];
    }

    std::size_t any(const Indices& indices) { return indices[random_.below(indices.size())]; }

    std::uint64_t as_likely(double least, double most) {
        const double share = static_cast<double>(random_.below(1 << 20)) / (1 << 20);
        return static_cast<std::uint64_t>(least * std::pow(most / least, share));
    }

    Plan plan(const abi::Record& where) {
        Plan plan;
        const auto period = 1 + random_.below(16);
        plan.unrolled = random_.below(3) == 0;
        const auto& reads =
            std::next(reads_.begin(), static_cast<std::ptrdiff_t>(random_.below(reads_.size())))
                ->second;
        const abi::Record& polled = content_.records[any(reads)];
        const auto position = random_.below(period);
        for (std::uint64_t i = 0; i < period; ++i) {
            plan.polls.push_back(plan.unrolled || i == position);
            const abi::Record& from = plan.polls.back() ? polled : other_than(polled);
            abi::Record record = from;
            record.pc = where.pc + static_cast<std::uint32_t>(4 * (i + 1));
            plan.body.push_back(record);
        }
        plan.address = abi::physical_address(polled);
        plan.value = polled.value;
        const unsigned bits = 8 * abi::access_size(polled);
        const auto bit = [&] { return std::uint64_t{1} << random_.below(bits); };
        plan.bit = bit();
        if (random_.below(4) == 0) {
            plan.noise = (bit() | bit()) & ~plan.bit;
        }
        plan.data = !plan.unrolled && random_.below(3) == 0;
        plan.changes = random_.below(3) != 0;
        plan.at_once = random_.below(2) == 0;
        plan.preempted = random_.below(2) == 0;
        plan.iterations = as_likely(plan.changes ? 4 : 8, 200);
        return plan;
    }

    const abi::Record& other_than(const abi::Record& polled) {
        for (;;) {
            const abi::Record& other = content_.records[any(accesses_)];
            if (abi::physical_address(other) != abi::physical_address(polled)) {
                return other;
            }
        }
    }

    void rebuild(const std::map<std::size_t, Plan>& plans) {
        const TraceContent in = content_;
        content_.records.clear();
        content_.callers.clear();
        std::vector<std::size_t> place_of; // of the records of IN
        for (std::size_t i = 0; i < in.records.size(); ++i) {
            place_of.push_back(content_.records.size());
            put(in, i);
            const auto plan = plans.find(i);
            if (plan != plans.end()) {
                i = put_loop(in, i, plan->second, place_of);
            }
        }
        for (test::OtherSection& other : content_.others) {
            other.in_front = other.in_front < place_of.size() ? place_of[other.in_front]
                                                              : content_.records.size();
        }
    }

    void put(const abi::Record& record, trace::Caller caller) {
        content_.records.push_back(record);
        content_.callers.push_back(caller);
        of_cpu_[record.cpu].last = record.cpu_sequence;
        of_device_[record.device].last = record.lock_sequence;
    }

    // Later than in IN, and with higher numbers.
    void put(const TraceContent& in, std::size_t i) {
        abi::Record record = in.records[i];
        record.time += delay_;
        record.cpu_sequence += of_cpu_[record.cpu].more;
        record.lock_sequence += of_device_[record.device].more;
        put(record, in.callers[i]);
    }

    // Returns the last record of IN that is in front of the loop's end.
    std::size_t put_loop(const TraceContent& in, std::size_t where, const Plan& plan,
                         std::vector<std::size_t>& place_of) {
        const abi::Record& thread = in.records[where];
        const std::size_t first = content_.records.size() + 1;
        std::uint64_t accesses = 0;
        std::size_t last_of_in = where;
        std::size_t last = first;
        for (std::uint64_t n = 0; n < plan.iterations; ++n) {
            const bool last_time = n + 1 == plan.iterations;
            bool left = false;
            for (std::size_t k = 0; k < plan.body.size() && !left; ++k) {
                if (plan.preempted && random_.below(4) == 0) {
                    preempt(in, thread, last_of_in, place_of);
                }
                const bool ends = plan.changes && last_time && ends_at(plan, k);
                put_access(in, where, plan, k, ends);
                last = content_.records.size();
                ++accesses;
                left = ends && plan.at_once;
            }
        }
        fmt::print("{} {} {} {} {} {} {:#x} {}{}{}{}\n", first, last, accesses, plan.body.size(),
                   addresses_of(plan), plan.changes ? "value" : "given-up", plan.bit,
                   plan.unrolled ? "unrolled" : "plain", plan.noise != 0 ? ",masked" : "",
                   plan.data ? ",data" : "", plan.preempted ? ",pre-empted" : "");
        return last_of_in;
    }

    static std::string addresses_of(const Plan& plan) {
        std::string text = fmt::format("{:#x}", plan.address);
        for (const abi::Record& record : plan.body) {
            if (!plan.changes && !abi::is_write(record)) {
                text += fmt::format(",{:#x}", abi::physical_address(record));
            }
        }
        return text;
    }

    // The last one in an iteration.
    static bool ends_at(const Plan& plan, std::size_t k) {
        return plan.polls[k] && std::find(plan.polls.begin() + static_cast<std::ptrdiff_t>(k) + 1,
                                          plan.polls.end(), true) == plan.polls.end();
    }

    void put_access(const TraceContent& in, std::size_t where, const Plan& plan, std::size_t k,
                    bool ends) {
        const abi::Record& before = content_.records.back();
        const abi::Record& thread = in.records[where];
        abi::Record record = plan.body[k];
        record.cpu = thread.cpu;
        record.mode = thread.mode;
        record.lr = thread.lr;
        record.sp = thread.sp;
        record.task = thread.task;
        if (plan.polls[k]) {
            record.value = plan.value ^ (ends ? plan.bit : 0) ^ (random_.next() & plan.noise);
        } else if (plan.data && abi::is_write(record)) {
            record.value = random_.next() >> (64 - 8 * abi::access_size(record));
        }
        record.time = before.time + step_;
        delay_ += step_;
        record.duration = static_cast<std::uint32_t>(step_ / 2);
        record.cpu_sequence = of_cpu_[record.cpu].another();
        record.lock_sequence = of_device_[record.device].another();
        put(record, in.callers[where]);
    }

    // Records that follow in IN, as long as they are of other threads: other stacks, or between the
    // numbers of an interrupt on this CPU, whose handler then runs to its end. Nobody is pre-empted
    // for 10 ms.
    void preempt(const TraceContent& in, const abi::Record& thread, std::size_t& last,
                 std::vector<std::size_t>& place_of) {
        const std::size_t wanted = 1 + random_.below(6);
        unsigned depth = 0; // of handlers
        for (std::size_t n = 0; (n < wanted || depth > 0) && last + 1 < in.records.size(); ++n) {
            const abi::Record& next = in.records[last + 1];
            const bool tells = interrupt_[last + 1] && next.cpu == thread.cpu &&
                               (next.value & 0x3ff) < first_special_interrupt;
            const bool ends = tells && abi::is_write(next);
            const bool same = next.sp >> stack_shift == thread.sp >> stack_shift && !tells;
            const bool late = next.time - in.records[last].time > 1000 * step_;
            if (depth == 0 && (ends || same || late)) {
                return;
            }
            depth += ends ? -1u : tells ? 1u : 0u;
            ++last;
            place_of.push_back(content_.records.size());
            put(in, last);
        }
    }

    /// The numbers of a CPU's or a device's records.
    struct Numbers {
        std::uint32_t last = 0, more = 0; ///< than in IN
        std::uint32_t another() { return ++more, last + 1; }
    };

    TraceContent& content_;
    sim::Random random_;
    std::vector<bool> interrupt_;
    std::uint64_t step_ = 0; ///< ticks of 10 us, from one access of a loop to the next
    Indices accesses_;
    std::map<std::pair<std::uint64_t, unsigned>, Indices> reads_; ///< by address and kind
    std::uint64_t delay_ = 0;                                     ///< ticks
    std::map<unsigned, Numbers> of_cpu_, of_device_;
};

} // namespace

int main(int argc, char** argv) {
    if (argc != 5) {
        fmt::print(stderr, "usage: inject-loops SEED COUNT IN OUT\n");
        return 2;
    }
    try {
        TraceContent content = test::read_content(argv[3]);
        Injector injector(argv[3], content, std::strtoull(argv[1], nullptr, 0));
        injector.inject(static_cast<unsigned>(std::strtoul(argv[2], nullptr, 0)));
        test::write_content(argv[4], content);
    } catch (const Error& error) {
        fmt::print(stderr, "inject-loops: {}\n", error.what());
        return 2;
    }
    return 0;
}
