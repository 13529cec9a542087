#include "analysis/sharing.hpp"

#include "analysis/count.hpp"
#include "analysis/register_fields.hpp"
#include "records/ticks.hpp"

#include <fmt/format.h>

#include <array>
#include <limits>
#include <memory>
#include <string>
#include <string_view>

namespace mmioscope::analysis {

namespace {

constexpr std::size_t most_rows = 256; ///< in memory

constexpr std::string_view kinds[] = {"lost update", "never ended", "shared register",
                                      "shared page", "never read back"};

std::string name_of(const Event& event, Key key) {
    std::string name;
    set_name(name, event, key);
    return name;
}

std::string cpus_text(const std::bitset<256>& cpus) {
    std::string text;
    for (std::size_t cpu = 0; cpu < cpus.size(); ++cpu) {
        if (cpus[cpu]) {
            text += fmt::format("{}{}", text.empty() ? "" : ",", cpu);
        }
    }
    return text;
}

std::vector<table::Column> sharing_columns() {
    using enum table::Look;
    return {{"finding", "finding"},
            {"device", "device"},
            {"register", "register"},
            {"what", "what"},
            {"bits"},
            {"value"},
            {"cpus", "cpus"},
            {"function", "function"},
            {"caller"},
            {"other_function", "other function"},
            {"other_caller"},
            {"times", "times", number, 5},
            {"reads", "reads", number, 7},
            {"writes", "writes", number, 7},
            {"apart_ns", "apart us", micros, 10},
            {"event", "event", number, 8},
            {"other_event"}};
}

} // namespace

void Sharing::Finding::add(const Finding& same) {
    const std::uint64_t both = times + same.times;
    if (event.number == 0 || same.event.number < event.number) {
        *this = same;
    }
    times = both;
}

// Losses have no CPU's thread go on: nothing is concluded across one.
void Sharing::add(const Event& event) {
    const abi::Record& record = event.record;
    if (record.type == abi::RecordType::gap) {
        threads_ = {};
        lost_.cut();
        interrupts_.cut();
        registers_.cut();
        pages_.cut();
        return;
    }
    if (interrupts_.add(event)) {
        lost_.begin(event);
    }
    if (record.type != abi::RecordType::access) {
        return;
    }
    if (event.interrupt_id() != no_id) { // a CPU's own register
        threads_.follow(record);
        return;
    }
    if (registers_.add(event)) {
        pages_.add(event);
        lost_.add(event, threads_.of(record));
    }
}

void Sharing::never_ended(const Event& acknowledge) {
    Finding finding;
    finding.kind = Shared::never_ended;
    finding.event = acknowledge;
    finding.cpus.set(acknowledge.record.cpu);
    finding.times = 1;
    never_ended_.of(key_of(std::uint64_t{acknowledge.record.cpu} << 32 | acknowledge.record.value))
        .add(finding);
}

table::Row Sharing::row_of(const Finding& finding) {
    const Event& event = finding.event;
    const bool is_page = finding.kind == Shared::shared_page;
    const auto known = [](bool is, table::Cell cell) { return is ? cell : table::Cell(); };
    const bool has_other = finding.other.number != 0;
    table::Cell what;
    if (is_page) {
        what = fmt::format("{:#x}", abi::physical_address(event.record) & ~std::uint64_t{0xfff});
    } else if (finding.kind == Shared::never_ended) {
        what = std::string(event.interrupt());
    } else if (finding.bits != 0) {
        what = registers::bits_text(event.reg(), finding.bits, finding.value,
                                    abi::access_size(event.record), within_register(event));
    }
    const bool counts = finding.reads + finding.writes != 0;
    return {kinds[static_cast<std::size_t>(finding.kind)],
            std::string(event.device()),
            known(!is_page, registers::register_text(event.reg(), event.offset())),
            what,
            known(finding.bits != 0, table::Hex{finding.bits}),
            known(finding.bits != 0, table::Hex{finding.value}),
            cpus_text(finding.cpus),
            name_of(event, Key::function),
            name_of(event, Key::caller),
            known(has_other, has_other ? name_of(finding.other, Key::function) : ""),
            known(has_other, has_other ? name_of(finding.other, Key::caller) : ""),
            known(finding.times != 0, finding.times),
            known(counts, finding.reads),
            known(counts, finding.writes),
            known(finding.apart != Use::never, finding.apart),
            event.number,
            known(has_other, finding.other.number)};
}

table::Table Sharing::table(std::size_t most, bool all) {
    // By kind, then by what comes first in it, then by event.
    const auto in_order = std::make_shared<Findings>(most_rows);
    std::array<std::size_t, std::size(kinds)> sizes{};
    const auto take = [&](const Finding& finding, std::uint64_t rank) {
        const auto kind = static_cast<std::size_t>(finding.kind);
        ++sizes[kind];
        in_order->of(key_of(kind).append(key_of(rank)).append(key_of(finding.event.number))) =
            finding;
    };
    lost_.each([&](const LostUpdate& lost) {
        Finding finding;
        finding.event = lost.write;
        finding.other = lost.other;
        finding.cpus.set(lost.write.record.cpu).set(lost.other.record.cpu);
        finding.times = lost.times;
        finding.apart = trace::elapsed(lost.other.nanoseconds, lost.write.nanoseconds);
        finding.bits = lost.bits;
        finding.value = lost.value;
        take(finding, ~lost.times);
    });
    never_ended_.each([&](std::string_view, const Finding& finding) {
        take(finding, ~finding.times);
        return true;
    });
    const auto take_use = [&take](const Use& use, Shared kind) {
        Finding finding;
        finding.kind = kind;
        finding.cpus = use.cpus;
        finding.reads = use.reads;
        finding.writes = use.writes;
        if (kind == Shared::never_read_back) {
            finding.event = use.last;
            take(finding, ~use.writes);
            return;
        }
        finding.event = use.later.number != 0 ? use.later : use.last;
        finding.other = use.earlier;
        finding.apart = use.closest;
        take(finding, use.closest);
    };
    registers_.each([&](const Use& use) {
        if (use.is_shared()) {
            take_use(use, Shared::shared_register);
        }
        if (use.is_never_read_back()) {
            take_use(use, Shared::never_read_back);
        }
    });
    pages_.each([&](const Use& use) {
        if (use.is_shared()) {
            take_use(use, Shared::shared_page);
        }
    });
    in_order->settle();
    table::Table table{sharing_columns(), {}};
    const auto most_of = [most, all](std::size_t kind) {
        return all || kind <= static_cast<std::size_t>(Shared::never_ended) ? most : 0;
    };
    table.more = [in_order, most_of](const table::TakeRow& take_row) {
        std::array<std::size_t, std::size(kinds)> taken{};
        in_order->each([&](std::string_view, const Finding& finding) {
            const auto kind = static_cast<std::size_t>(finding.kind);
            if (taken[kind]++ < most_of(kind)) {
                take_row(row_of(finding));
            }
            return true;
        });
    };
    for (std::size_t kind = 0; kind < sizes.size(); ++kind) {
        if (sizes[kind] > most_of(kind)) {
            table.closing += fmt::format("{} {} {}", table.closing.empty() ? "..." : ",",
                                         sizes[kind] - most_of(kind), kinds[kind]);
        }
    }
    table.closing += table.closing.empty() ? "" : all ? " more" : " more (--all, --limit)";
    return table;
}

} // namespace mmioscope::analysis
