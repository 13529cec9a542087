// sharing --memory against a plain model of mtrace's rule, and of what memory holds.
#include "abi/control.hpp"
#include "analysis/memory_moves.hpp"
#include "records.hpp"

#include <fmt/format.h>

#include <bit>
#include <map>
#include <random>

using namespace mmioscope;
using namespace mmioscope::test;
using analysis::make_memory_moves;
using analysis::MovesBy;

namespace {

constexpr std::uint32_t memory = 3; ///< the region

Event event_of(abi::Record record, std::uint64_t number) {
    Event event;
    event.record = record;
    event.record.device = memory;
    event.number = number;
    return event;
}

/// By what `shift` tells apart, from the definition: when each CPU read and wrote it last.
class Model {
public:
    explicit Model(unsigned shift) : shift_(shift) {}

    bool add(const abi::Record& r, std::uint64_t now) {
        const std::uint64_t begin = abi::physical_address(r);
        bool moved = false;
        for (std::uint64_t unit = begin >> shift_;
             unit <= (begin + abi::access_size(r) - 1) >> shift_; ++unit) {
            auto& [reads, writes] = units_[unit];
            const std::uint64_t since = (abi::is_write(r) ? writes : reads)[r.cpu];
            for (const auto& [cpu, time] : writes) {
                moved |= cpu != r.cpu && time > since;
            }
            for (const auto& [cpu, time] : reads) {
                moved |= abi::is_write(r) && cpu != r.cpu && time > since;
            }
            (abi::is_write(r) ? writes : reads)[r.cpu] = now;
        }
        return moved;
    }
    void forget() { units_.clear(); }

private:
    using Times = std::map<unsigned, std::uint64_t>; ///< by CPU
    unsigned shift_;
    std::map<std::uint64_t, std::pair<Times, Times>> units_;
};

std::string text_of(const table::Table& table) {
    std::string text;
    table::each_row(table, [&](const table::Row& row) {
        text += table::text_in(row[0]);
        for (const std::size_t column : {2, 3, 4, 17}) {
            const auto* number = std::get_if<std::uint64_t>(&row[column]);
            text += fmt::format(" {}", number == nullptr ? 0 : *number);
        }
        text += '\n';
    });
    return text;
}

} // namespace

TEST_CASE("memory moves as a plain model says, and is as it was stored last") {
    for (unsigned seed = 1; seed <= 40; ++seed) {
        CAPTURE(seed);
        std::mt19937 random(seed);
        const auto below = [&](unsigned limit) { return static_cast<unsigned>(random() % limit); };
        const unsigned cpus = 1 + below(abi::max_cpus), lines = 1 + below(6);
        const bool by_page = seed % 2 == 0;
        const auto moves =
            make_memory_moves(by_page ? MovesBy::page : MovesBy::line, memory, false, 1000);
        Model bytes(0), by_line(6), pages(12);
        std::map<std::uint64_t, std::uint8_t> content, known; // by address
        std::map<std::string, std::array<std::uint64_t, 4>> wanted;
        for (std::uint64_t now = 1; now <= 3000; ++now) {
            abi::Record r = access(below(cpus), static_cast<std::uint32_t>(now), now);
            const unsigned log2 = below(4);
            r.access = abi::encode_access(below(3) == 0, log2);
            const unsigned place = below(lines);
            r.pa_low = 0x8060'0000 + place * 0x540 + below(65 - (below(20) == 0 ? 1u : 1u << log2));
            const unsigned other = below(300);
            if (other == 0) {
                abi::Record gap = r;
                gap.type = abi::RecordType::gap;
                moves->add(event_of(gap, now));
                known.clear(), bytes.forget(), by_line.forget(), pages.forget();
            } else if (other == 1) {
                abi::Record watch = r;
                watch.type = abi::RecordType::configuration;
                watch.value = std::uint64_t{0x2000} << 32 | 0x8060'0000;
                watch.pa_low = static_cast<std::uint32_t>(abi::control::Command::watch);
                moves->add(event_of(watch, now));
                known.clear();
            } else if (other < 20) {
                content[r.pa_low] ^= static_cast<std::uint8_t>(below(256)); // a device
            }
            const bool unknown = below(50) == 0;
            r.flags |= unknown ? abi::flag_value_unknown : 0;
            r.value = 0;
            bool changed = false;
            for (unsigned n = 0; n < abi::access_size(r); ++n) {
                std::uint8_t& here = content[r.pa_low + n];
                here = abi::is_write(r) ? static_cast<std::uint8_t>(below(256)) : here;
                r.value |= std::uint64_t{here} << 8 * n;
                const auto found = known.find(r.pa_low + n);
                changed |=
                    !unknown && found != known.end() && !abi::is_write(r) && found->second != here;
                if (!unknown) {
                    known[r.pa_low + n] = here;
                } else if (abi::is_write(r)) {
                    known.erase(r.pa_low + n);
                }
            }
            moves->add(event_of(r, now));
            const bool moved[] = {pages.add(r, now), by_line.add(r, now), bytes.add(r, now),
                                  changed};
            const unsigned shift = by_page ? 12 : 6;
            for (std::size_t n = 0; n < 4; ++n) {
                if (moved[n]) {
                    ++wanted[fmt::format("{:#x}", r.pa_low >> shift << shift)][n];
                }
            }
        }
        std::map<std::string, std::string> rows;
        for (const auto& [name, n] : wanted) {
            rows[name] = fmt::format("{} {} {} {} {}\n", name, n[0], n[1], n[2], n[3]);
        }
        const table::Table table = moves->table();
        CHECK(table.rows.size() == rows.size());
        for (const table::Row& row : table.rows) {
            const table::Table one{table.columns, {row}};
            CHECK(text_of(one) == rows[std::string(table::text_in(row[0]))]);
        }
    }
}

TEST_CASE("a page has moved if another CPU has lost it, or the right to store") {
    for (unsigned seed = 1; seed <= 20; ++seed) {
        CAPTURE(seed);
        std::mt19937 random(seed);
        const auto below = [&](unsigned limit) { return static_cast<unsigned>(random() % limit); };
        const unsigned cpus = 1 + below(abi::max_cpus);
        const auto moves = make_memory_moves(MovesBy::page, memory, false, 1000);
        std::map<std::uint32_t, std::pair<unsigned, bool>> has; // by page: CPUs, and may one store
        std::map<std::string, std::uint64_t> wanted, found;
        for (std::uint64_t now = 1; now <= 3000; ++now) {
            abi::Record r = access(below(cpus), static_cast<std::uint32_t>(now), now);
            r.type = abi::RecordType::move;
            r.access = abi::encode_access(below(4) == 0, 0);
            r.pa_low = 0x8060'0000 + below(4) * 0x1000 + below(0x1000);
            const bool store = abi::is_write(r);
            auto& [holders, writable] = has[r.pa_low & ~0xfffu];
            const bool had = (holders >> r.cpu & 1) != 0;
            if (had && (writable || !store)) {
                continue;
            }
            r.value =
                abi::move_value(store ? abi::MoveBy::store : abi::MoveBy::load, holders, writable);
            moves->add(event_of(r, now));
            const int before = std::popcount(holders);
            holders = store ? 1u << r.cpu : holders | 1u << r.cpu;
            const bool lost =
                before + (had ? 0 : 1) > std::popcount(holders) || (writable && !store);
            wanted[fmt::format("{:#x}", r.pa_low & ~0xfffu)] += lost ? 1 : 0;
            writable = store;
        }
        std::erase_if(wanted, [](const auto& one) { return one.second == 0; });
        const table::Table table = moves->table();
        for (const table::Row& row : table.rows) {
            found[std::string(table::text_in(row[0]))] = std::get<std::uint64_t>(row[2]);
            CHECK(table::text_in(row[1]).empty()); // nobody knows about lines
        }
        CHECK(found == wanted);
        CHECK(table.closing.ends_with("a few were not needed") == !wanted.empty());
    }
}

TEST_CASE("nobody knows what memory holds where records are left out") {
    const auto changed = [](bool selects, std::optional<abi::control::Command> before) {
        const auto moves = make_memory_moves(MovesBy::page, memory, selects, 1000);
        std::uint64_t number = 0;
        for (const bool write : {true, false}) {
            abi::Record r = access(0, 1, 1);
            if (before && write) {
                r.type = abi::RecordType::configuration;
                r.value = 0;
                r.pa_low = static_cast<std::uint32_t>(*before);
                moves->add(event_of(r, ++number));
            }
            r = access(0, 1, 1);
            r.access = abi::encode_access(write, 2);
            r.value = write ? 1 : 2;
            moves->add(event_of(r, ++number));
        }
        return !moves->table().rows.empty();
    };
    using enum abi::control::Command;
    CHECK(changed(false, std::nullopt));
    CHECK(!changed(true, std::nullopt));
    CHECK(changed(false, watch));
    CHECK(changed(false, no_filter));
    // Of a word of which two bytes are watched.
    const auto of_watched = [](std::uint64_t watched, bool ended) {
        const auto moves = make_memory_moves(MovesBy::page, memory, false, 1000);
        abi::Record r = access(0, 1, 1);
        r.type = abi::RecordType::configuration;
        set_physical_address(r, static_cast<std::uint64_t>(watch));
        r.value = watched | std::uint64_t{2} << 32;
        moves->add(event_of(r, 1));
        if (ended) {
            set_physical_address(r, static_cast<std::uint64_t>(unwatch));
            r.value = watched | std::uint64_t{1} << 32;
            moves->add(event_of(r, 2));
        }
        for (const bool write : {true, false}) {
            r = access(0, 1, 1);
            r.access = abi::encode_access(write, 2);
            r.value = write ? 0x01'0000 : 0x02'0000;
            moves->add(event_of(r, write ? 3 : 4));
        }
        return !moves->table().rows.empty();
    };
    CHECK(of_watched(0x1c09'0002, false));
    CHECK(!of_watched(0x1c09'0000, false));
    CHECK(!of_watched(0x1c09'0002, true));
    for (const auto command :
         {filter_directions, filter_addresses, filter_values, filter_cpus, filter_pcs, sample}) {
        CHECK(!changed(false, command));
    }
}
