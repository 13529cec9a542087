#include "analysis/memory_moves.hpp"

#include "abi/ring.hpp"
#include "analysis/count.hpp"
#include "analysis/kept_access.hpp"
#include "analysis/shared_use.hpp"
#include "system/capped_map.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <tuple>
#include <unordered_map>

namespace mmioscope::analysis {

namespace {

/// Whether an access moved one of the bytes, lines of 64 bytes, or pages that it touches.
struct Moved {
    bool byte = false, line = false, page = false;
    bool only_page = false; ///< nobody knows what else
};

constexpr unsigned line_shift = 6, page_shift = 12;

/// The accesses to watched memory, from which moves follow; and `move` records (run --pages), which
/// say it of pages.
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

std::string hex_of(std::uint64_t address, unsigned shift) {
    return fmt::format("{:#x}", address >> shift << shift);
}

std::string side_of(const Event& event, Key key) {
    std::string name;
    if (event.number != 0) {
        set_name(name, event, key);
    }
    return name;
}

table::Cell known(std::uint64_t number) {
    return number == 0 ? table::Cell() : table::Cell(number);
}

class Moves {
public:
    explicit Moves(MovesBy by) : by_(by) {}

    /// `to` moved something that `from`, of another CPU, had; without a number: not known.
    void add(const Event& to, const Event& from, Moved moved) {
        Row& row = row_of(to);
        for (Sum* const sum : {&all_, static_cast<Sum*>(&row)}) {
            const auto count = [&](Count& one, bool has_moved) {
                (abi::is_write(to.record) ? one.writes : one.reads) += has_moved ? 1 : 0;
            };
            count(sum->bytes, moved.byte);
            count(sum->lines, moved.line);
            count(sum->pages, moved.page);
            sum->of_pages |= moved.only_page;
            sum->first = sum->first == 0 ? to.number : sum->first;
        }
        ++row.sides.of(Sides{side_of(to, Key::function), side_of(to, Key::task),
                             side_of(from, Key::function), side_of(from, Key::task)});
    }

    /// The load `event` returned what no CPU has stored there.
    void add_changed(const Event& event) {
        for (Sum* const sum : {&all_, static_cast<Sum*>(&row_of(event))}) {
            ++sum->changed;
            sum->first_changed = sum->first_changed == 0 ? event.number : sum->first_changed;
        }
    }

    /// A page of which each move is an event has none for a while.
    void add_free() { ++frees_; }
    /// A row for each page, line and so on, `most` at most.
    table::Table table(std::size_t most) const {
        using enum table::Look;
        const std::string_view by = moves_by_words[static_cast<std::size_t>(by_)];
        table::Table table{{{by, by},
                            {"finding", "finding"},
                            {"pages", "pages", number, 6},
                            {"lines", "lines", number, 6},
                            {"bytes", "bytes", number, 6},
                            {"page_reads"},
                            {"page_writes"},
                            {"line_reads"},
                            {"line_writes"},
                            {"byte_reads"},
                            {"byte_writes"},
                            {"function", "function"},
                            {"task", "task"},
                            {"other_function", "from function"},
                            {"other_task", "task"},
                            {"times", "times", number, 5},
                            {"event", "event", number, 8},
                            {"changed", "changed", number, 7},
                            {"changed_event", "event", number, 8}},
                           {}};
        std::vector<const std::pair<const std::string, Row>*> rows;
        for (const auto& one : rows_.held()) {
            rows.push_back(&one);
        }
        std::ranges::stable_sort(rows, std::greater(), [this](const auto* one) {
            const Row& row = one->second;
            const bool by_page = by_ == MovesBy::page;
            return std::tuple(by_page ? row.pages.all() : row.lines.all(),
                              by_page ? row.lines.all() : row.pages.all(), row.bytes.all());
        });
        for (const auto* const row : std::span(rows).first(std::min(most, rows.size()))) {
            table.rows.push_back(cells(row->first, row->second));
        }
        table.closing = fmt::format(
            "{}moves by page: {} reads, {} writes; by line: {}, {}; by byte: {}, {}; changed by "
            "another master: {}{}{}",
            rows.size() > most ? fmt::format("... {} more (--limit); all ", rows.size() - most)
                               : "",
            all_.pages.reads, all_.pages.writes, all_.lines.reads, all_.lines.writes,
            all_.bytes.reads, all_.bytes.writes, all_.changed,
            all_.changed == 0 ? "" : fmt::format(", first at event {}", all_.first_changed),
            all_.of_pages ? "; of pages that move none is missing, a few were not needed" : "");
        if (frees_ != 0) {
            table.closing += fmt::format(", but {} times one was free for a while", frees_);
        }
        const Row& rest = rows_.rest();
        add_left_out(table.left_out, rest.pages.all() + rest.lines.all() + rest.bytes.all(),
                     "moves", rows_.most());
        return table;
    }

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

    Row& row_of(const Event& event) {
        const std::uint64_t address = abi::physical_address(event.record);
        switch (by_) {
        case MovesBy::page: name_ = hex_of(address, page_shift); break;
        case MovesBy::line: name_ = hex_of(address, line_shift); break;
        case MovesBy::symbol:
            name_ = event.reg() != nullptr ? event.reg()->name : hex_of(address, page_shift);
            break;
        case MovesBy::function: set_name(name_, event, Key::function); break;
        case MovesBy::task: set_name(name_, event, Key::task); break;
        }
        return rows_.of(name_);
    }

    // It moves often, and its parts seldom: CPUs use different parts.
    bool is_false(const Row& row) const {
        constexpr std::uint64_t often = 32, times = 8;
        const auto larger = [&](const Count& whole, const Count& parts) {
            return whole.all() >= often && whole.all() >= times * parts.all();
        };
        return row.of_pages           ? false
               : by_ == MovesBy::page ? larger(row.pages, row.lines)
               : by_ == MovesBy::line ? larger(row.lines, row.bytes)
                                      : false;
    }

    table::Row cells(const std::string& name, const Row& row) const {
        const auto& sides = row.sides.held();
        const auto most =
            std::ranges::max_element(sides, {}, [](const auto& one) { return one.second; });
        const auto side = [&](std::size_t n) {
            return most == sides.end() || most->first[n].empty() ? table::Cell()
                                                                 : table::Cell(most->first[n]);
        };
        return {name,
                is_false(row) ? table::Cell(std::string_view("false sharing")) : table::Cell(),
                row.pages.all(),
                row.of_pages ? table::Cell() : table::Cell(row.lines.all()),
                row.of_pages ? table::Cell() : table::Cell(row.bytes.all()),
                row.pages.reads,
                row.pages.writes,
                row.lines.reads,
                row.lines.writes,
                row.bytes.reads,
                row.bytes.writes,
                side(0),
                side(1),
                side(2),
                side(3),
                most == sides.end() ? table::Cell() : table::Cell(most->second),
                known(row.first),
                known(row.changed),
                known(row.first_changed)};
    }

    MovesBy by_;
    std::string name_; ///< kept to avoid an allocation for each event
    CappedNames<Row> rows_{16'384};
    Sum all_;
    std::uint64_t frees_ = 0;
};

class MemoryMoves final : public Analysis {
public:
    /// `memory`: its region in the trace (tree::guest_memory_in()). `selects`: some events are left
    /// out, so nobody knows what memory holds.
    MemoryMoves(MovesBy by, std::optional<std::uint32_t> memory, bool selects, std::size_t most)
        : moves_(by), memory_(memory), selects_(selects), most_(most) {}

    void add(const Event& event) override {
        const abi::Record& record = event.record;
        see(record);
        if (record.type == abi::RecordType::move && record.cpu < abi::max_cpus) {
            return add_page(event);
        }
        if (record.type != abi::RecordType::access || record.device != memory_ ||
            record.cpu >= abi::max_cpus) {
            return;
        }
        const Bytes here = touched_by(record);
        Moved moved;
        bool changed = false;
        Event by_line, by_page;
        Line* line = nullptr;
        for (std::uint64_t at = here.begin; at < here.end; ++at) {
            const auto place = static_cast<unsigned>(at % line_bytes);
            if (line == nullptr || place == 0) {
                line = &lines_.of(at >> line_shift);
                if (lines_.is_rest(*line)) {
                    ++left_out_;
                    return;
                }
                moved.line |= line->add(event, by_line);
            }
            if (at == here.begin || at % (1u << page_shift) == 0) {
                Part& page = pages_.of(at >> page_shift);
                moved.page |= !pages_.is_rest(page) && page.add(event, by_page);
            }
            moved.byte |= line->bytes[place].add(record.cpu, abi::is_write(record));
            changed |= line->changes(record, place, static_cast<unsigned>(at - here.begin)) &&
                       recorded_.all(at);
        }
        if (moved.byte || moved.line || moved.page) {
            moves_.add(event, moved.byte || moved.line ? by_line : by_page, moved);
        }
        if (changed && !selects_) {
            moves_.add_changed(event);
        }
    }

    table::Table table() override {
        table::Table table = moves_.table(most_);
        add_left_out(table.left_out, left_out_, "accesses to lines", lines_.most());
        return table;
    }

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
        bool add(const Event& event, Event& from) {
            const unsigned cpu = event.record.cpu;
            const bool is_write = abi::is_write(event.record);
            from = (is_write ? access : write).of_other(cpu);
            access.add(event);
            if (is_write) {
                write.add(event);
            }
            return moves.add(cpu, is_write);
        }
    };
    static constexpr unsigned line_bytes = 64;
    struct Line : Part {
        std::array<Movable, line_bytes> bytes;
        std::uint64_t known = 0; ///< a bit for each byte of `content`
        std::array<std::uint8_t, line_bytes> content;
        /// The access's byte number `byte` is at `place` in the line. Returns whether a load finds
        /// there what was not stored last.
        bool changes(const abi::Record& record, unsigned place, unsigned byte) {
            const std::uint64_t bit = std::uint64_t{1} << place;
            const bool is_write = abi::is_write(record);
            if ((record.flags & abi::flag_value_unknown) != 0 || byte >= sizeof record.value) {
                known &= is_write ? ~bit : known;
                return false;
            }
            const auto now = static_cast<std::uint8_t>(record.value >> 8 * byte);
            const bool changed = !is_write && (known & bit) != 0 && content[place] != now;
            known |= bit;
            content[place] = now;
            return changed;
        }
    };

    // What is known of memory's content ends with each change of what is recorded; of its moves,
    // too, with a loss.
    void see(const abi::Record& record) {
        if (record.type == abi::RecordType::gap) {
            lines_.held().clear();
            pages_.held().clear();
        } else if (recorded_.add(record)) {
            for (auto& [address, line] : lines_.held()) {
                line.known = 0;
            }
        }
    }

    void add_page(const Event& event) {
        Part& page = pages_.of(abi::physical_address(event.record) >> page_shift);
        Event from;
        if (pages_.is_rest(page)) {
            return void(++left_out_);
        }
        const abi::MoveBy by = abi::move_by(event.record.value);
        if (by >= abi::MoveBy::freed) { // Hyp's own doing
            return by == abi::MoveBy::freed ? moves_.add_free() : void();
        }
        page.add(event, from);
        if (abi::takes(event.record)) {
            moves_.add(event, from, {.page = true, .only_page = true});
        }
    }

    Moves moves_;
    std::optional<std::uint32_t> memory_;
    bool selects_;
    std::size_t most_; ///< rows
    Recorded recorded_;
    CappedMap<std::unordered_map<std::uint64_t, Line>> lines_{16'384};
    CappedMap<std::unordered_map<std::uint64_t, Part>> pages_{16'384};
    std::uint64_t left_out_ = 0; ///< accesses to other lines, and moves of other pages
};

} // namespace

std::unique_ptr<Analysis> make_memory_moves(MovesBy by, std::optional<std::uint32_t> memory,
                                            bool selects, std::size_t most) {
    return std::make_unique<MemoryMoves>(by, memory, selects, most);
}

} // namespace mmioscope::analysis
