#include "view/line_style.hpp"

#include "import/imported.hpp"

#include "table/text.hpp"

namespace mmioscope::view {

LineStyle style_of(const trace::TraceReader& reader) {
    LineStyle style;
    style.frequency = reader.info() ? reader.info()->counter_frequency : 0;
    style.device_width = reader.names().width();
    style.named = !reader.tree().empty();
    style.pc = reader.knows("pc");
    style.task = reader.knows("task");
    style.pc_high = importing::pc_high(reader.text());
    return style;
}

tree::ShortNames short_names(const trace::TraceReader& reader, std::size_t width) {
    return width == table::unlimited
               ? tree::ShortNames()
               : tree::short_names(reader.names(), reader.regions(), reader.tree());
}

void fit(LineStyle& style, const trace::TraceReader& reader, std::size_t width) {
    style.width = width;
    style.short_names = short_names(reader, width);
}

} // namespace mmioscope::view
