// What the registers of a device are, as far as their accesses show it. docs/regs.md defines it.
#pragma once

#include "reading/consumer.hpp"
#include "registers/device_list.hpp"
#include "table/table.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>

namespace mmioscope::analysis {

/// Different values, exactly up to a limit.
class DistinctValues {
public:
    void add(std::uint32_t value);
    std::size_t count() const { return count_; }
    /// There may be more than count().
    bool full() const { return count_ == values_.size(); }

private:
    std::array<std::uint32_t, 16> values_{};
    std::size_t count_ = 0;
};

/// What the accesses to one register show. A value counts only if it is known, and if the CPU that
/// reads is the one that wrote or read before: other CPUs may have registers of their own there.
struct RegisterEvidence {
    std::uint64_t reads = 0;
    std::uint64_t writes = 0;
    DistinctValues read, written;

    // Two reads by a CPU, without a write in between.
    std::uint64_t stayed = 0;
    std::uint64_t rose = 0;
    std::uint64_t fell = 0;
    bool uncertain = false;  ///< some reads are in no pair, because what was before does not count
    std::uint32_t moved = 0; ///< bits that changed
    /// Changes just as bits that were written to another register meanwhile set or clear them.
    std::uint64_t by_others = 0;
    // Nanoseconds of the trace: the first read, the last one that differed, the last one.
    std::uint64_t first_read = 0, last_change = 0, last_read = 0;
    std::uint64_t stayed_last = 0; ///< reads since `last_change`

    // The first read after a write.
    std::uint64_t read_back = 0;
    std::uint64_t agreed = 0;          ///< that gave what was written
    std::uint32_t ones = 0, zeros = 0; ///< bits that were written as such and read as such
    std::uint32_t not_one = 0;         ///< bits that were written as one and read as zero
    std::uint32_t not_zero = 0;        ///< the reverse
    std::uint64_t ones_to_ones = 0;    ///< ones were written to bits that were read as one before
    std::uint64_t cleared = 0;         ///< of these: all of these bits were read as zero after
    std::uint64_t set = 0;      ///< ones written to bits that were zero, and which were one after
    std::uint64_t kept = 0;     ///< zeros written to bits that were one, and which stayed one
    std::uint64_t lost = 0;     ///< and which did not stay
    std::uint64_t repeated = 0; ///< writes of just what was read before
    std::uint64_t gone = 0;     ///< reads after these that lack a one of it

    std::uint64_t streamed = 0; ///< writes directly after one to it, none to others in between
    /// Reads after one of it; in between nothing of the device but reads of one other register.
    std::uint64_t drained = 0;
    // Ones written here to bits that another register showed before, and then did not.
    std::uint64_t others_shown = 0;
    std::uint64_t others_cleared = 0;
    // Ones written here to bits that one other register did not show before.
    std::uint64_t others_unset = 0;
    std::uint64_t others_set = 0; ///< of these: it showed them after, and the rest as before
    // Two reads by a CPU, one directly after the other: each bit that was one.
    std::array<std::uint32_t, 32> dropped{}; ///< how often it was zero then
    std::uint32_t held = 0;                  ///< bits that were one then, or any, if others rose
    std::uint32_t rested = 0;                ///< bits that were zero twice
    // Writes here after which one other register was polled, nothing else of the device in
    // between, and its second read gave the same as the first.
    std::uint64_t waited = 0;
    std::uint64_t late = 0;                       ///< of these: a later read did not
    std::uint32_t late_up = ~0u, late_down = ~0u; ///< bits that rose, or fell, each time
    std::uint64_t late_by_any = 0;                ///< likewise as the other register, by any write
    // Reads while another register was the last one that was written.
    std::uint64_t chosen_alike = 0; ///< it has the value of an earlier read, which gave the same
    /// Which gave something else, though nothing was written here; or another register was before.
    std::uint64_t chosen_differ = 0;
    std::uint64_t chosen_changed = 0; ///< it has a new value, and the read gave another one, too
};

/// The class of a register, and by what evidence.
struct RegisterClass {
    std::string_view name;
    std::string evidence;
};

class RegisterClasses final : public reading::Consumer {
public:
    /// Looks at the devices called `device`: the whole name, or what is before its '@' or '['; at
    /// all if it is empty.
    /// Keeps at most `most` registers, 3 KiB each; counts accesses to others.
    explicit RegisterClasses(std::string device, std::size_t most = 4096)
        : device_(std::move(device)), most_(most) {}

    void add(const Event& event) override;

    /// Whether a device with this name is looked at.
    bool means(std::string_view name) const;
    /// Whether the access's register is a FIFO, or a counter that rose from each read to the next.
    bool carries_data(const Event& event) const;
    /// No access to such a device was seen.
    bool empty() const { return registers_.empty(); }
    /// A row for each register, by device and offset.
    table::Table table() const;
    /// The same as a description (mmioscope-registers(5)). `devices`: by region. A register without
    /// a name is called by its offset, "R008".
    std::string description(std::span<const registers::Device> devices) const;

private:
    static constexpr unsigned most_cpus = 8; ///< of others, accesses are only counted
    static constexpr std::size_t most_chosen = 16;

    /// What a CPU knows of a register.
    struct View {
        std::uint64_t time = 0; ///< of the last read; 0: none that counts
        std::uint32_t value = 0;
    };
    struct One {
        std::string device, name;
        std::uint64_t offset = 0;
        RegisterEvidence evidence;
        std::array<View, most_cpus> views;
        // The last write; `write_time` 0: none that counts.
        std::uint64_t write_time = 0;
        std::uint32_t wrote = 0;
        unsigned writer = 0;
        bool fresh = false; ///< no read since
        bool seen_before = false;
        std::uint32_t before = 0; ///< what its CPU had read before it, if `seen_before`
        /// Ones that were read last, and that all writes since repeat.
        std::uint32_t acknowledged = 0;
        /// What it gave after each value of the register that was written last, the first 16.
        std::map<std::uint32_t, View> chosen;
        /// Likewise after each of these together with what was written here last.
        std::map<std::pair<std::uint32_t, std::uint32_t>, std::uint32_t> chosen_twice;
        const One* chooser = nullptr; ///< the register that was written last
        std::uint32_t chosen_by = 0;  ///< the value at the last such read
        /// The first register of which a write here cleared, set, or later changed bits.
        const One *clears = nullptr, *sets = nullptr, *changes = nullptr;
        const One* cleared_by = nullptr; ///< the reverse of `clears`
        unsigned reader = most_cpus;     ///< the CPU of the last read
        // What was read since the last write to the device, which was at `answer_time`.
        std::uint64_t answer_time = 0;
        std::uint32_t answer = 0;
        bool answer_stayed = false, answer_changed = false;
    };
    using Place = std::pair<std::uint16_t, std::uint64_t>; ///< device and offset of the register

    /// The registers that choose what a `data` register shows, and that one.
    using Indices = std::map<const One*, const One*>;

    static std::uint64_t offset_of(const Event& event);
    One* of(const Event& event);
    Indices indices() const;
    /// With what it says of other registers.
    static RegisterClass class_of(const One& one, const Indices& indices);
    void take_write(One& one, unsigned cpu, std::uint32_t value);
    void take_read(One& one, unsigned cpu, std::uint32_t value, One* writer, bool next);
    void take_chosen(One& one, std::uint32_t value, const One& writer);
    static void take_effect(One& one, std::uint32_t before, std::uint32_t value, One& writer);
    static void take_answer(One& one, std::uint32_t value, One& writer, bool next);
    static void take_next(RegisterEvidence& e, std::uint32_t before, std::uint32_t value);

    std::string device_;
    std::size_t most_;
    std::map<Place, One> registers_;
    std::map<std::uint16_t, One*> last_written_; ///< by device
    /// By device: the registers of the last reads since a write, the latest first; or null.
    std::map<std::uint16_t, std::array<One*, 2>> last_read_;
    std::uint64_t now_ = 0;         ///< counts accesses
    std::uint64_t nanoseconds_ = 0; ///< of the access
    std::uint64_t since_ = 0;       ///< nothing that was before counts
    std::uint64_t left_out_ = 0;    ///< accesses
};

} // namespace mmioscope::analysis
