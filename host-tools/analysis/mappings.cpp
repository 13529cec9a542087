#include "analysis/mappings.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace mmioscope::analysis {

namespace {

constexpr unsigned page_bits = 12;

std::string name_of(const Location& location) {
    return location.function.empty() ? fmt::format("[{}]", location.module) : location.function;
}

std::string function_of(const Event& event) {
    const std::string text = event.code() == nullptr ? fmt::format("pc {:#010x}", event.record.pc)
                                                     : name_of(*event.code());
    return event.caller() == nullptr ? text
                                     : fmt::format("{} <- {}", text, name_of(*event.caller()));
}

std::string task_of(const Event& event) {
    return event.task() == nullptr ? fmt::format("{:#010x}", event.record.task)
                                   : fmt::format("{}:{}", event.task()->comm, event.task()->pid);
}

} // namespace

void Mappings::add(const Event& event) {
    const abi::Record& record = event.record;
    if (record.type != abi::RecordType::access) {
        return;
    }
    const Pages pages{record.va >> page_bits, abi::physical_address(record) >> page_bits};
    All::value_type*& recent = recent_[(pages.first ^ pages.second) % most_recent];
    if (recent == nullptr || recent->first != pages) {
        const auto [known, fresh] = all_.try_emplace(pages);
        if (fresh) {
            known->second = {event.nanoseconds, 0, std::string(event.device()), function_of(event),
                             task_of(event)};
        }
        recent = &*known;
    }
    ++recent->second.accesses;
}

std::vector<const Mappings::All::value_type*> Mappings::in_order() const {
    std::vector<const All::value_type*> rows;
    for (const auto& row : all_) {
        rows.push_back(&row);
    }
    std::stable_sort(rows.begin(), rows.end(), [](const auto* a, const auto* b) {
        return a->second.first < b->second.first;
    });
    return rows;
}

table::Table Mappings::table() const {
    using enum table::Look;
    using table::Hex;
    table::Table table{{{"first_ns", "first s", seconds, 12},
                        {"virtual", "virtual", number, 10, 8},
                        {"physical", "physical", number, 12, 10},
                        {"device", "device", words, 24},
                        {"accesses", "accesses", number, 9},
                        {"function", "function"},
                        {"task", "task"}},
                       {}};
    for (const auto* row : in_order()) {
        const auto& [pages, mapping] = *row;
        table.rows.push_back({mapping.first, Hex{std::uint64_t{pages.first} << page_bits},
                              Hex{pages.second << page_bits}, mapping.device, mapping.accesses,
                              mapping.function, mapping.task});
    }
    return table;
}

} // namespace mmioscope::analysis
