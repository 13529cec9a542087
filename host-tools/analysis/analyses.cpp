#include "analysis/analyses.hpp"

#include "analysis/pci.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>
#include <vector>

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

/// Where devices are mapped: which virtual page mapped which physical one, and who used it first.
class Mappings final : public Analysis {
public:
    explicit Mappings(std::size_t most) : all_(most) {}

    void add(const Event& event) override { add_all({&event, 1}); }
    void add_all(std::span<const Event> events) override {
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

    /// One row for each mapping, in the order of first use.
    table::Table table() override {
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
        std::vector<const std::pair<const Pages, Mapping>*> in_order;
        for (const auto& one : all_.held()) {
            in_order.push_back(&one);
        }
        std::ranges::stable_sort(in_order, {}, [](const auto* one) { return one->second.first; });
        table.more = [in_order = std::move(in_order)](const table::TakeRow& take) {
            for (const auto* one : in_order) {
                const auto& [pages, mapping] = *one;
                take({mapping.first, Hex{pages >> physical_bits << page_bits},
                      Hex{pages << page_bits & physical_mask}, mapping.device, mapping.accesses,
                      mapping.function, mapping.task});
            }
        };
        add_left_out(table.left_out, all_.rest().accesses, "accesses through mappings",
                     all_.most());
        return table;
    }

private:
    struct Mapping {
        std::uint64_t first = 0; ///< ns
        std::uint64_t accesses = 0;
        std::string device;
        std::string function;
        std::string task;
    };
    /// Page numbers: the virtual one in the high bits, the physical one in the low bits.
    using Pages = std::uint64_t;

    Mapping& find(Pages pages, const Event& event) {
        Mapping& mapping = all_.of(pages);
        if (mapping.accesses == 0) {
            mapping = {event.nanoseconds, 0, std::string(event.device()), function_of(event),
                       task_of(event)};
        }
        return mapping;
    }

    static constexpr std::size_t most_recent = 64;

    CappedMap<std::map<Pages, Mapping>> all_;
    /// A recently accessed mapping.
    struct Recent {
        Pages pages = ~Pages{0}; ///< initially invalid
        Mapping* mapping = nullptr;
    };
    std::array<Recent, most_recent> recent_{}; ///< by hash of the pages
};

constexpr AnalysisRow rows[] = {
    {"mappings", "Print which virtual page mapped which device page, and who used it first",
     [] { return make_mappings(); }},
    {"pci", "Print PCI functions and their BARs",
     []() -> std::unique_ptr<Analysis> { return std::make_unique<Pci>(); }},
};

} // namespace

std::unique_ptr<Analysis> make_mappings(std::size_t most) {
    return std::make_unique<Mappings>(most);
}

std::span<const AnalysisRow> analyses() {
    return rows;
}

} // namespace mmioscope::analysis
