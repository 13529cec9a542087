// Which watched memory moves between CPUs, for sharing --memory. docs/memory.md defines a move.
#pragma once

#include "abi/ring.hpp"
#include "analysis/recorded.hpp"
#include "analysis/shared_use.hpp"
#include "reading/drive.hpp"
#include "system/capped_map.hpp"
#include "table/table.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace mmioscope::analysis {

// What moves, as a table: it does not know how a move was found.

enum class MovesBy { page, line, symbol, function, task };
inline const std::vector<std::string> moves_by_words{"page", "line", "symbol", "function", "task"};

/// Whether an access moved one of the bytes, lines of 64 bytes, or pages that it touches.
struct Moved {
    bool byte = false, line = false, page = false;
    bool only_page = false; ///< nobody knows what else
};

class Moves {
public:
    explicit Moves(MovesBy by) : by_(by) {}

    /// `to` moved something that `from`, of another CPU, had; without a number: not known.
    void add(const Event& to, const Event& from, Moved moved);
    /// The load `event` returned what no CPU has stored there.
    void add_changed(const Event& event);
    /// A page of which each move is an event has none for a while.
    void add_free() { ++frees_; }
    /// A row for each page, line and so on, `most` at most.
    table::Table table(std::size_t most) const;

private:
    struct Count {
        std::uint64_t reads = 0, writes = 0;
        std::uint64_t all() const { return reads + writes; }
    };
    struct Sum {
        bool of_pages = false; ///< nobody knows which lines
        Count bytes, lines, pages;
        std::uint64_t changed = 0;
        std::uint64_t first = 0, first_changed = 0; ///< Event::number
    };
    using Sides = std::array<std::string, 4>; ///< function and task: to, from
    struct Row : Sum {
        CappedMap<std::map<Sides, std::uint64_t>> sides{64};
    };

    Row& row_of(const Event& event);
    bool is_false(const Row& row) const;
    table::Row cells(const std::string& name, const Row& row) const;

    MovesBy by_;
    std::string name_; ///< kept to avoid an allocation for each event
    CappedNames<Row> rows_{16'384};
    Sum all_;
    std::uint64_t frees_ = 0;
};

// The accesses to watched memory, from which moves follow; and `move` records (run --pages), which
// say it of pages.

/// A byte, a line or a page, by mtrace's rule: it moves to a CPU that reads it if another one has
/// written it since that CPU's last read, and to one that writes it if another one has read or
/// written it since that CPU's last write.
class Movable {
public:
    bool add(unsigned cpu, bool write) {
        const auto own = static_cast<std::uint8_t>(1u << cpu);
        std::uint8_t& moves = write ? writes_move_ : reads_move_;
        const bool moved = (moves & own) != 0;
        writes_move_ |= static_cast<std::uint8_t>(~own);
        reads_move_ |= static_cast<std::uint8_t>(write ? ~own : 0);
        moves &= static_cast<std::uint8_t>(~own);
        return moved;
    }

private:
    std::uint8_t reads_move_ = 0, writes_move_ = 0; ///< by CPU, a bit for each
    static_assert(abi::max_cpus <= 8);
};

class MemoryMoves final : public reading::Consumer {
public:
    /// `memory`: its region in the trace (tree::guest_memory_in()). `selects`: some events are left
    /// out, so nobody knows what memory holds.
    MemoryMoves(MovesBy by, std::optional<std::uint32_t> memory, bool selects)
        : moves_(by), memory_(memory), selects_(selects) {}

    void add(const Event& event) override;
    table::Table table(std::size_t most) const;

private:
    /// The last access, and the last one of another CPU than that.
    struct Latest {
        Event last, other;
        void add(const Event& event) {
            if (last.number != 0 && last.record.cpu != event.record.cpu) {
                other = last;
            }
            keep_unnamed(last, event);
        }
        const Event& of_other(unsigned cpu) const { return last.record.cpu != cpu ? last : other; }
    };
    struct Part {
        Part() {} // as in SharedUses::Live
        Movable moves;
        Latest access, write;
        /// Returns whether it moves; `from`: the access of another CPU that would make it move.
        bool add(const Event& event, Event& from);
    };
    static constexpr unsigned line_bytes = 64;
    struct Line : Part {
        std::array<Movable, line_bytes> bytes;
        std::uint64_t known = 0; ///< a bit for each byte of `content`
        std::array<std::uint8_t, line_bytes> content;
        bool changes(const abi::Record& record, unsigned place, unsigned byte);
    };

    void see(const abi::Record& record);
    void add_page(const Event& event);

    Moves moves_;
    std::optional<std::uint32_t> memory_;
    bool selects_;
    Recorded recorded_;
    CappedMap<std::unordered_map<std::uint64_t, Line>> lines_{16'384};
    CappedMap<std::unordered_map<std::uint64_t, Part>> pages_{16'384};
    std::uint64_t left_out_ = 0; ///< accesses to other lines, and moves of other pages
};

} // namespace mmioscope::analysis
