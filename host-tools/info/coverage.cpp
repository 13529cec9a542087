#include "info/items.hpp"
#include "info/text.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace mmioscope::info {

namespace {

using exporting::Hex;
using registers::CoverageCount;

std::string row(std::string_view name, std::size_t width, const CoverageCount& count) {
    const auto percent = [&count](std::uint64_t part) {
        return count.touched == 0
                   ? 100.0
                   : 100.0 * static_cast<double>(part) / static_cast<double>(count.touched);
    };
    return fmt::format("{:<{}}  {:>8}  {:>7.1f} %  {:>7.1f} %  {:>7.1f} %\n", name, width,
                       count.touched, percent(count.device), percent(count.reg),
                       percent(count.field));
}

Item item(const std::string& name, const CoverageCount& count) {
    return {"coverage",
            name,
            {{"touched", count.touched},
             {"device", count.device},
             {"register", count.reg},
             {"field", count.field}}};
}

std::string_view lack(const registers::Touched& touched) {
    return !touched.device ? "device" : !touched.reg ? "register" : "field";
}

} // namespace

std::string coverage_text(const registers::Coverage& coverage) {
    const auto devices = coverage.devices();
    std::size_t width = 12;
    for (const auto& [name, count] : devices) {
        width = std::max(width, name.size());
    }
    std::string text = fmt::format("{:<{}}  {:>8}  {:>9}  {:>9}  {:>9}\n", "named to the", width,
                                   "touched", "device", "register", "field");
    for (const auto& [name, count] : devices) {
        text += row(name, width, count);
    }
    return text + row("total", width, coverage.total());
}

Items coverage_items(const registers::Coverage& coverage) {
    Items items;
    for (const auto& [name, count] : coverage.devices()) {
        items.push_back(item(name, count));
    }
    items.push_back(item("", coverage.total()));
    return items;
}

std::string unnamed_text(const registers::Coverage& coverage) {
    std::string text;
    for (const auto& [place, touched] : coverage.unnamed()) {
        text += fmt::format("{} {:#05x} {} reads {} writes: no {}\n", place.first, place.second,
                            touched.reads, touched.writes, lack(touched));
    }
    return text;
}

Items unnamed_items(const registers::Coverage& coverage) {
    Items items;
    for (const auto& [place, touched] : coverage.unnamed()) {
        items.push_back({"unnamed",
                         place.first,
                         {{"offset", Hex{place.second}},
                          {"reads", touched.reads},
                          {"writes", touched.writes},
                          {"lacks", lack(touched)}}});
    }
    return items;
}

} // namespace mmioscope::info
