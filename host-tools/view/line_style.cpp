#include "view/line_style.hpp"

#include "tree/short_names.hpp"

namespace mmioscope::view {

LineStyle style_of(const trace::TraceReader& reader) {
    LineStyle style;
    style.frequency = reader.info() ? reader.info()->counter_frequency : 0;
    style.device_width = reader.names().width();
    style.pc = reader.knows("pc");
    style.task = reader.knows("task");
    return style;
}

void fit(LineStyle& style, const trace::TraceReader& reader, std::size_t width) {
    style.width = width;
    const std::vector<std::string> names = tree::short_names(reader.regions(), reader.tree());
    for (std::size_t i = 0; i < names.size(); ++i) {
        style.short_names.emplace(reader.names()[static_cast<std::uint16_t>(i)], names[i]);
    }
}

} // namespace mmioscope::view
