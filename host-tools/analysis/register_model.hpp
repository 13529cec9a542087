// What the reads of a device's registers give, learnt from a trace: a small model that can be run.
// docs/regs.md defines it.
#pragma once

#include "analysis/register_classes.hpp"
#include "reading/drive.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

namespace mmioscope::analysis {

// The rules that foretell what the read of a register gives. docs/regs.md defines them.

/// Rules by which a read may be foretold. Each is a competitor: at each read the one that was right
/// most often in such a case, while the model learnt, decides.
enum class Rule : std::uint8_t {
    last_read,    ///< of the register
    last_written, ///< to it
    cleared,      ///< what was read last, without the ones written since
    clock,        ///< what it counts to in the time since earlier reads
    recalled_1,   ///< what this run read after the same last write to the device
    recalled_2,   ///< after the same last two
    recalled_own, ///< after the same last one, and the same last one to the register itself
    own,          ///< what was learnt for the register's last read and last write
    step_runs,    ///< change since the last read, by the data accesses since
    step_3,       ///< change, by the registers of the last three accesses
    data_1,       ///< what was learnt for the last data access to the device and its value
    data_3,       ///< for the last three
    writes_1,     ///< what was learnt for the last write to the device
    writes_2,
    writes_4,
    history_0, ///< what was learnt for the register alone
    history_1, ///< for the last access to the device
    history_2,
    history_3,
    history_5,
    history_8,
    history_12,
};
inline constexpr std::size_t rule_count = 22;
std::string_view name_of(Rule rule);

constexpr std::size_t index_of(Rule rule) {
    return static_cast<std::size_t>(rule);
}
/// Whether the rule learns how far a read differs from the one before.
constexpr bool is_step(std::size_t rule) {
    return rule == index_of(Rule::step_runs) || rule == index_of(Rule::step_3);
}

/// The hash of what `hash` stands for, followed by `with`.
constexpr std::uint64_t joined(std::uint64_t hash, std::uint64_t with) {
    hash = (hash ^ with) * 0x9e37'79b9'7f4a'7c15;
    return hash ^ hash >> 32;
}

// What was learnt for contexts, of which few fit into memory.

/// How often something was right.
struct Share {
    std::uint32_t right = 0, all = 0;
};

/// The value of each context, by the context's hash. New ones displace those that were seldom
/// right.
class ContextTable {
public:
    static constexpr std::uint32_t most_run = 7;
    struct Slot {
        std::uint32_t tag = 0; ///< 0: unused
        std::uint32_t value = 0;
        std::uint32_t run = 0; ///< times in a row that this was right, up to `most_run`
        Share so_far;          ///< of the last cases
    };

    /// Null: nothing is known of it.
    const Slot* find(std::uint64_t key) const;
    /// The context gave this value.
    void learn(std::uint64_t key, std::uint32_t value);

private:
    static constexpr unsigned table_bits = 18;
    static constexpr std::uint32_t most_cases = 64; ///< of `so_far`
    static constexpr std::size_t ways = 4;

    std::vector<Slot> slots_ = std::vector<Slot>(std::size_t{1} << table_bits);
};

/// An access to a register that the model knows.
struct ModelAccess {
    std::size_t reg = 0;                ///< RegisterModel::Numbers::of()
    bool write = false;                 ///< else a read
    std::optional<std::uint32_t> value; ///< empty: not known, or of no interest
    double seconds = 0;                 ///< since the trace's first record
};

class RegisterModel final : public reading::Consumer {
public:
    /// `classes`: of the same trace, to its end. What carries data there is not foretold, and its
    /// values do not tell situations apart.
    explicit RegisterModel(const RegisterClasses& classes) : classes_(classes) {}

    /// Learns from the next event.
    void add(const Event& event) override;

    struct Register {
        std::string device, name;
        std::uint64_t offset = 0;
        std::size_t device_number = 0;
        bool data = false; ///< RegisterClasses::carries_data()
        /// How often each rule was right while the model learnt, by how often it had been before.
        using Shares = std::array<std::array<Share, ContextTable::most_run + 1>, rule_count>;
        Shares shares{};
        std::array<Share, rule_count> rules{}; ///< the sums of `shares`
        /// The most frequent values; exact up to 16 different ones (Misra and Gries).
        std::map<std::uint32_t, std::uint64_t> frequent;
        /// If it only rises: the slowest and the fastest rate that all reads allow, per second.
        double slowest = 0, fastest = std::numeric_limits<double>::infinity();
        std::optional<ModelAccess> first; ///< the first read
        /// The roundest rate that all reads allow; 0: it is no clock.
        double rate() const;
    };
    const std::vector<Register>& registers() const { return registers_; }
    /// The value read most often while the model learnt; empty: none was.
    std::optional<std::uint32_t> most_frequent(std::size_t reg) const;

    /// The registers of the events of one trace.
    class Numbers {
    public:
        /// Empty: of no device that the model is about, or there are too many.
        std::optional<std::size_t> of(const Event& event, RegisterModel& model);

    private:
        std::map<std::pair<std::uint16_t, std::uint64_t>, std::optional<std::size_t>> known_;
    };

    /// What the model remembers of a trace while it follows it.
    class Seen {
    public:
        void add(const ModelAccess& access, const RegisterModel& model);
        /// What was before counts no more.
        void forget();

        std::optional<std::uint32_t> last_read(std::size_t reg) const;
        std::optional<std::uint32_t> last_written(std::size_t reg) const;

    private:
        friend class RegisterModel;
        static constexpr std::size_t looks_back = 12;
        static constexpr std::size_t writes_back = 4;
        static constexpr std::size_t data_back = 3;
        static constexpr std::size_t most_recalled = std::size_t{1} << 14;

        struct Device {
            /// The last accesses, the latest first. Repeats are one, as are data accesses in a row,
            /// with their number.
            std::array<std::uint64_t, looks_back> accesses{};
            std::array<std::uint64_t, looks_back> places{}; ///< the same without values
            std::array<std::uint64_t, writes_back> writes{};
            std::array<std::uint64_t, data_back> data_accesses{}; ///< each with its value
            std::uint64_t in_row = 0; ///< data accesses, if the last one was one
            std::uint64_t data = 0;   ///< data accesses so far
        };
        struct One {
            std::optional<std::uint32_t> read, written;
            bool written_last = false;
            std::uint64_t data = 0; ///< Device::data at the last read
            // What a clock had at time 0, by all reads that agree.
            double least = 0, most = 0;
        };
        Device& device(std::size_t number);
        One& one(std::size_t reg);

        std::vector<Device> devices_;
        std::vector<One> registers_;
        std::unordered_map<std::uint64_t, std::uint32_t> recalled_; ///< by register and writes
    };

    struct Foretold {
        std::uint32_t value = 0;
        Rule rule = Rule::last_read;
    };
    /// What a read of `reg` gives at this time; empty: no rule says anything.
    std::optional<Foretold> foretell(std::size_t reg, const Seen& run, double seconds) const;

private:
    struct Candidate {
        bool exists = false;
        std::uint8_t run = 0;
        std::uint32_t value = 0;
        Share of_context = {}; ///< of rules that learn
    };
    struct Contexts {
        std::array<std::uint64_t, rule_count> keys{}; ///< of rules that learn
        std::uint32_t base = 0;                       ///< of the steps
    };

    static constexpr std::size_t most_registers = 4096;
    static constexpr std::size_t most_values = 16;

    /// Of the rules recalled_1, recalled_2 and recalled_own.
    static std::array<std::uint64_t, 3> recalled_keys(std::size_t reg,
                                                      std::span<const std::uint64_t> writes,
                                                      std::optional<std::uint32_t> own);
    static Contexts contexts(std::size_t reg, const Seen::Device& device, const Seen::One& one);
    std::array<Candidate, rule_count> candidates(std::size_t reg, const Seen& run,
                                                 const Contexts& contexts, double seconds) const;
    void learn_read(const ModelAccess& access);
    void learn_rate(Register& reg, const ModelAccess& access);

    const RegisterClasses& classes_;
    std::map<std::string, std::size_t, std::less<>> devices_;
    std::map<std::pair<std::size_t, std::uint64_t>, std::size_t> places_; ///< by device and offset
    std::vector<Register> registers_;
    Register::Shares shares_{}; ///< of all registers together
    ContextTable learnt_;
    Numbers numbers_;
    Seen run_; ///< of the trace that it learns from
};

/// The access of `event`, if it is one of the guest's.
ModelAccess model_access(const Event& event, std::size_t reg);

} // namespace mmioscope::analysis
