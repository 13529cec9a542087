// What a driver did to a device, as steps that can be done again: docs/gen.md.
#pragma once

#include "analysis/poll.hpp"
#include "reading/drive.hpp"
#include "records/ticks.hpp"
#include "system/text_buffer.hpp"

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <vector>

namespace mmioscope::analysis {

struct Step {
    enum class Kind : std::uint8_t {
        write,
        read,  ///< whatever the device answers
        check, ///< reads back what was written last
        poll,  ///< reads until the bits in `mask` are `value`
        delay, ///< waits `value` microseconds
    };

    Kind kind = Kind::write;
    unsigned size = 0;        ///< bytes of the access, 1 to 8; 0: a delay
    std::uint64_t offset = 0; ///< bytes from the device's base
    std::uint64_t value = 0;  ///< what was written, read, awaited
    std::uint64_t mask = 0;   ///< for a poll: the bits awaited
    std::uint64_t answer = 0; ///< for a poll: all bits of the last value read
    std::uint64_t event = 0;  ///< number of the access

    // For a comment. The trace and the Replay own them.
    const Register* reg = nullptr; ///< null: not known
    std::string_view function;     ///< that made the access; empty: not known
};

/// Makes steps of the accesses to one region of the device tree.
class Replay final : public reading::Consumer {
public:
    struct Limits {
        std::uint64_t delay;    ///< ns; a shorter pause between two accesses is no step
        std::uint64_t idle;     ///< ns; nor is a longer one: nobody waits for the device
        std::uint64_t accesses; ///< most that become steps
    };

    /// `frequency`: of the counter, in Hz. `region`: its index in the trace; nothing: that of the
    /// first access.
    Replay(const Limits& limits, std::uint32_t frequency,
           std::optional<std::uint16_t> region = std::nullopt)
        : limits_(limits), tick_(frequency), region_(region), given_(region.has_value()) {}

    void add(const Event& event) override;
    void forget() override {
        finder_.cut_all();
        functions_of_.clear();
    }
    void finish() override;

    /// The steps, in the order of the trace. Call it after finish().
    std::span<const Step> steps() const { return steps_; }

    // The region; empty and 0 if there was no access.
    const std::string& device() const { return device_; }
    std::uint64_t base() const { return base_; } ///< physical address
    /// The device of the first access to another region; empty: there was none, or the region was
    /// given.
    const std::string& other() const { return other_; }
    /// Accesses that cannot be done again and are no steps: writes of unknown values, and those of
    /// more than 8 bytes.
    std::uint64_t undoable() const { return undoable_; }
    std::uint64_t first_undoable() const { return first_undoable_; } ///< number of the event
    /// Accesses for which there was no room.
    std::uint64_t left_out() const { return left_out_; }

private:
    /// What a step is part of.
    struct Part {
        std::optional<Thread> thread; ///< nothing: it can be part of no loop
        bool folded = false;          ///< of a poll, which has a step of its own
    };
    struct Written {
        std::uint64_t value;
        unsigned size;
    };

    bool is_of_region(const Event& event);
    std::string_view function_of(const Event& event);
    void wait(const Event& event);
    void fold(Thread thread, const Poll& poll);

    Limits limits_;
    trace::TickLength tick_;
    PollFinder finder_{[this](Thread thread, const Poll& poll) { fold(thread, poll); }};
    std::vector<Step> steps_;
    std::vector<Part> parts_;                            ///< of each step
    std::unordered_map<std::uint64_t, Written> written_; ///< last write, by offset
    std::unordered_set<std::string> functions_;          ///< names
    std::vector<std::string_view> functions_of_;         ///< by the id of the code; null: not asked
    std::string device_, other_;
    std::uint64_t base_ = 0;
    std::optional<std::uint16_t> region_;
    bool given_;
    std::uint64_t end_ = 0; ///< ns; of the last access
    std::uint64_t undoable_ = 0, first_undoable_ = 0;
    std::uint64_t accesses_ = 0, left_out_ = 0;
};

// Steps as a program that does them.

/// What the steps are of.
struct ReplayOf {
    std::string device;
    std::uint64_t base = 0; ///< physical address
    std::string trace;      ///< its file
};

struct ReplayFormat {
    std::string_view name; ///< as --as takes it
    std::string_view help; ///< one line
    TextBuffer (*text)(const ReplayOf& of, std::span<const Step> steps);
};

/// All formats, in the order of --help.
std::span<const ReplayFormat> replay_formats();

} // namespace mmioscope::analysis
