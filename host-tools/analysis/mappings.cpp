#include "analysis/mappings.hpp"

#include <fmt/format.h>

#include <memory>

namespace mmioscope::analysis {

namespace {

constexpr unsigned page_bits = 12;
constexpr unsigned physical_bits = 40 - page_bits; ///< of a page number
constexpr std::uint64_t physical_mask = (std::uint64_t{1} << 40) - 1;

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

void Mappings::add_all(std::span<const Event> events) {
    for (const Event& event : events) {
        const abi::Record& record = event.record;
        if (record.type != abi::RecordType::access) {
            continue;
        }
        const Pages physical = abi::physical_address(record) >> page_bits;
        const Pages pages = Pages{record.va >> page_bits} << physical_bits | physical;
        Recent& recent = recent_[(pages ^ pages >> physical_bits) % most_recent];
        if (recent.pages != pages) [[unlikely]] {
            recent = {pages, &find(pages, event)};
        }
        ++recent.mapping->accesses;
    }
}

Mappings::Mapping& Mappings::find(Pages pages, const Event& event) {
    const std::string key = key_of(pages);
    if (all_.full()) {
        recent_ = {};
    }
    Mapping& mapping = all_.of(key);
    if (mapping.piece == 0) {
        mapping = {event.nanoseconds, 0, ++pieces_, std::string(event.device()), function_of(event),
                   task_of(event)};
    }
    return mapping;
}

void Mappings::Mapping::add(const Mapping& other) {
    const std::uint64_t both = accesses + other.accesses;
    if (other.piece < piece) {
        *this = other;
    }
    accesses = both;
}

// The numbers, and the texts, each followed by a zero.
std::string Mappings::Mapping::bytes_of() const {
    std::string bytes = key_of(first) + key_of(accesses) + key_of(piece);
    for (const std::string* text : {&device, &function, &task}) {
        bytes.append(*text).push_back('\0');
    }
    return bytes;
}

Mappings::Mapping Mappings::Mapping::of(std::string_view bytes) {
    Mapping mapping;
    for (std::uint64_t* number : {&mapping.first, &mapping.accesses, &mapping.piece}) {
        *number = number_of(bytes);
        bytes.remove_prefix(sizeof *number);
    }
    for (std::string* text : {&mapping.device, &mapping.function, &mapping.task}) {
        *text = bytes.substr(0, bytes.find('\0'));
        bytes.remove_prefix(text->size() + 1);
    }
    return mapping;
}

table::Table Mappings::table() {
    using enum table::Look;
    using table::Hex;
    table::Table table{{{"first_ns", "first s", seconds, 12},
                        {"virtual", "virtual", number, 10, 8},
                        {"physical", "physical", number, 12, 10},
                        {"device", "device", device, 24},
                        {"accesses", "accesses", number, 9},
                        {"function", "function"},
                        {"task", "task"}},
                       {}};
    const auto in_order = std::make_shared<SpilledMap<Mapping>>(most_);
    all_.each([&](std::string_view pages, const Mapping& mapping) {
        in_order->of(key_of(mapping.first).append(pages)) = mapping;
        return true;
    });
    in_order->settle();
    table.more = [in_order](const table::TakeRow& take) {
        in_order->each([&take](std::string_view key, const Mapping& mapping) {
            const Pages pages = number_of(key.substr(sizeof(std::uint64_t)));
            take({mapping.first, Hex{pages >> physical_bits << page_bits},
                  Hex{pages << page_bits & physical_mask}, mapping.device, mapping.accesses,
                  mapping.function, mapping.task});
            return true;
        });
    };
    return table;
}

} // namespace mmioscope::analysis
