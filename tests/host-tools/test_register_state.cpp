// What commands at and why say of registers, beside models that keep text for everything.
#include "../sim/random.hpp"
#include "analysis/register_state.hpp"
#include "random_trace.hpp"
#include "reading/drive.hpp"
#include "system/byte_source.hpp"
#include "table/table.hpp"

#include <map>
#include <span>
#include <string>
#include <tuple>
#include <vector>

using namespace mmioscope;
using namespace mmioscope::test;

namespace {

void read(const RandomTrace& random, reading::Consumer& consumer) {
    MemorySource source(random.bytes);
    reading::TraceOptions options;
    options.report = [](const std::string&) {};
    reading::Trace trace(options, source);
    reading::drive(trace, {&consumer});
    consumer.forget(); // names become invalid
}

std::string csv_of(const table::Table& table) {
    return table::csv(std::span(&table, 1));
}

/// Passes events on, and says after every few that names become invalid.
template <typename To>
struct Forgetful final : reading::Consumer {
    explicit Forgetful(To& to) : to(to) {}
    void add(const Event& event) override {
        to.add(event);
        if (++events % 7 == 0) {
            to.forget();
        }
    }
    void forget() override { to.forget(); }
    To& to;
    unsigned events = 0;
};

/// Passes on the first events: what there is of a trace that is still written.
struct Beginning final : reading::Consumer {
    Beginning(reading::Consumer& to, std::uint64_t last) : to(to), last(last) {}
    void add(const Event& event) override {
        if (event.number <= last) {
            to.add(event);
        }
    }
    reading::Consumer& to;
    std::uint64_t last;
};

/// One access, as text from the beginning.
struct Seen {
    std::uint64_t number = 0;
    abi::Record record{};
    table::Row row;
    analysis::KeptAccess kept;
};

struct EverythingSeen final : reading::Consumer {
    void add(const Event& event) override {
        if (event.record.type == abi::RecordType::access) {
            event.settle();
            analysis::KeptAccess kept;
            kept.keep(event);
            kept.forget();
            all.push_back({event.number, event.record, kept.row(""), kept});
        }
    }
    std::vector<Seen> all;
};

table::Row named(table::Row row, std::string_view what) {
    row.front() = what;
    return row;
}

bool same_place(const Seen& a, const Seen& b) {
    return a.record.device == b.record.device &&
           abi::physical_address(a.record) == abi::physical_address(b.record) &&
           abi::access_size(a.record) == abi::access_size(b.record);
}

/// Whether `a` accesses the byte at `address` of the device of `b`.
bool has(const Seen& a, const Seen& b, std::uint64_t address) {
    return a.record.device == b.record.device && address >= abi::physical_address(a.record) &&
           address < abi::physical_address(a.record) + abi::access_size(a.record);
}

/// How many of the `size` bytes from the start of `b` on `a` accesses, too.
unsigned common(const Seen& a, const Seen& b, unsigned size) {
    unsigned bytes = 0;
    for (unsigned i = 0; i < size; ++i) {
        bytes += has(a, b, abi::physical_address(b.record) + i) ? 1 : 0;
    }
    return bytes;
}

/// Whether `a`, byte by byte, has the same known value as `b` at all bytes of `b`.
bool same_value(const Seen& a, const Seen& b) {
    if (((a.record.flags | b.record.flags) & abi::flag_value_unknown) != 0) {
        return false;
    }
    for (unsigned i = 0; i < abi::access_size(b.record); ++i) {
        const std::uint64_t address = abi::physical_address(b.record) + i;
        const std::uint64_t at = address - abi::physical_address(a.record);
        if (!has(a, b, address) || at >= 8 || i >= 8 ||
            (a.record.value >> 8 * at & 0xff) != (b.record.value >> 8 * i & 0xff)) {
            return false;
        }
    }
    return true;
}

/// The rows for the address of `first`, by looking at all accesses.
void add_state(const std::vector<Seen>& all, const Seen& first, table::Table& to) {
    const std::uint64_t address = abi::physical_address(first.record);
    const auto starts_here = [&](const Seen& one) {
        return one.record.device == first.record.device &&
               abi::physical_address(one.record) == address;
    };
    unsigned size = 0;
    for (const Seen& one : all) {
        size = std::max(size, starts_here(one) ? abi::access_size(one.record) : 0u);
    }
    const Seen *last[2] = {}, *whole[2] = {};
    std::uint64_t changed = 0;
    for (const Seen& one : all) {
        const bool write = abi::is_write(one.record);
        const unsigned bytes = common(one, first, size);
        if (starts_here(one) || bytes == size) {
            last[write] = &one;
        } else if (bytes > 0 && write) {
            changed = one.number;
        }
        if (starts_here(one) && abi::access_size(one.record) == size) {
            whole[write] = &one;
        }
    }
    std::map<std::uint64_t, table::Row> rows;
    for (const bool write : {false, true}) {
        const Seen* const one = last[write];
        if (one == nullptr) {
            continue;
        }
        const std::string_view what = write ? "written" : "read";
        const Seen& of_size = *(whole[1] != nullptr ? whole[1] : whole[0]);
        table::Row row =
            starts_here(*one) ? named(one->row, what) : of_size.kept.row_of_part(one->kept, what);
        if (write && changed > one->number) {
            row.front() = fmt::format("written, in part by {}", changed);
        }
        rows[one->number] = row;
    }
    for (const auto& [number, row] : rows) {
        to.rows.push_back(row);
    }
}

} // namespace

TEST_CASE("the state of registers is the last write and the last read of each") {
    const RandomTrace random(GENERATE(range(1u, 1 + sim::seeds(2))), 5'000);
    EverythingSeen seen;
    read(random, seen);
    std::map<std::tuple<std::uint16_t, std::uint64_t>, const Seen*> places;
    for (const Seen& one : seen.all) {
        places.emplace(std::tuple(one.record.device, abi::physical_address(one.record)), &one);
    }
    table::Table expected{analysis::kept_columns(), {}};
    for (const auto& [place, one] : places) {
        add_state(seen.all, *one, expected);
    }
    analysis::RegisterState state;
    Forgetful forgetful(state);
    read(random, forgetful);
    REQUIRE(expected.rows.size() > 20);
    CHECK(csv_of(state.table()) == csv_of(expected));
    CHECK(state.table().closing.empty());
    // Likewise if another reading found which these are: all of them, or those of the beginning.
    for (const std::uint64_t read_before : {5'000u, 2'000u}) {
        analysis::LastAccesses last;
        Beginning beginning(last, read_before);
        read(random, beginning);
        CHECK(last.found().numbers.size() < seen.all.size());
        analysis::RegisterState again(last.found());
        Forgetful forgetful_again(again);
        read(random, forgetful_again);
        CHECK(csv_of(again.table()) == csv_of(expected));
    }
}

TEST_CASE("the state of registers counts accesses to registers beyond its limit") {
    const RandomTrace random(1, 5'000);
    EverythingSeen seen;
    read(random, seen);
    analysis::RegisterState few(2);
    read(random, few);
    std::uint64_t others = 0;
    const Seen* second = nullptr;
    for (const Seen& one : seen.all) {
        if (same_place(one, seen.all.front())) {
            continue;
        }
        second = second == nullptr ? &one : second;
        others += same_place(one, *second) ? 0 : 1;
    }
    analysis::LastAccesses last(2);
    read(random, last);
    analysis::RegisterState few_again(last.found(), 2);
    read(random, few_again);
    CHECK(csv_of(few_again.table()) == csv_of(few.table()));
    CHECK(few_again.table().left_out == few.table().left_out);
    CHECK(few.table().rows.size() <= 4);
    REQUIRE(few.table().left_out.size() == 1);
    CHECK_THAT(few.table().left_out[0],
               Catch::StartsWith(fmt::format(
                   "... {} accesses to registers beyond the first 2 are left out: ", others)));
}

TEST_CASE("the causes of an access are the accesses to its register before it") {
    const RandomTrace random(GENERATE(range(1u, 1 + sim::seeds(2))), 3'000);
    EverythingSeen seen;
    read(random, seen);
    unsigned older_writes = 0;
    for (std::size_t i = 10; i < seen.all.size(); i += 97) {
        Seen target = seen.all[i];
        // Random values are rarely equal, so look for the value of the first write.
        for (const Seen& one : std::span(seen.all).first(i)) {
            if (same_place(one, target) && abi::is_write(one.record)) {
                target.record.value = one.record.value;
                target.record.flags &= static_cast<std::uint8_t>(~abi::flag_value_unknown);
                break;
            }
        }
        const bool read_it = !abi::is_write(target.record);
        std::map<std::uint64_t, table::Row> expected;
        const Seen *written = nullptr, *was_read = nullptr, *wrote_this = nullptr;
        for (const Seen& one : std::span(seen.all).first(i)) {
            if (common(one, target, abi::access_size(target.record)) > 0) {
                const bool write = abi::is_write(one.record);
                (write ? written : was_read) = &one;
                if (write && same_value(one, target)) {
                    wrote_this = &one;
                }
            }
        }
        const auto expect = [&](const Seen* one, std::string_view what) {
            if (one != nullptr) {
                expected[one->number] = named(one->row, what);
            }
        };
        if (read_it && wrote_this != written) {
            expect(wrote_this, "wrote this value");
            older_writes += wrote_this != nullptr ? 1 : 0;
        }
        expect(written, "previous write");
        expect(was_read, "previous read");
        expect(&target, "this");
        table::Table rows{analysis::kept_columns(), {}};
        for (const auto& [number, row] : expected) {
            rows.rows.push_back(row);
        }
        Event event;
        event.record = target.record;
        event.number = target.number;
        const auto causes = analysis::make_causes(event);
        Forgetful forgetful(*causes);
        struct UpToTarget final : reading::Consumer {
            UpToTarget(reading::Consumer& to, std::uint64_t last) : to(to), last(last) {}
            void add(const Event& event) override {
                if (event.number <= last) {
                    to.add(event);
                }
            }
            void forget() override { to.forget(); }
            reading::Consumer& to;
            std::uint64_t last;
        } up_to_target(forgetful, target.number);
        read(random, up_to_target);
        CAPTURE(i);
        CHECK(csv_of(causes->table()) == csv_of(rows));
    }
    CHECK(older_writes > 0);
}
