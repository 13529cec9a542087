#include "registers/trace_devices.hpp"

#include "lib/device_tree.hpp"
#include "lib/error.hpp"
#include "registers/text_file.hpp"

namespace mmioscope::registers {

TraceDevices::TraceDevices(const Sources& sources)
    : book_(RegisterBook::shipped()), registers_(book_) {
    for (const std::string& file : sources.files) {
        book_.add_file(file);
    }
    if (!sources.tree.empty()) {
        tree_ = text_of(sources.tree);
        if (!trace::tree_is_sound(std::as_bytes(std::span(tree_)))) {
            throw bad_input("{}: this is no device tree blob", sources.tree);
        }
    }
}

void TraceDevices::refresh(const trace::TraceReader& reader) {
    if (!fresh_ && reader.regions().size() == seen_regions_ && reader.tree().size() == seen_tree_) {
        return;
    }
    fresh_ = false;
    seen_regions_ = reader.regions().size();
    seen_tree_ = reader.tree().size();
    const auto tree =
        tree_.empty() ? reader.tree() : std::as_bytes(std::span(std::as_const(tree_)));
    devices_ = list_devices(reader.regions(), tree);
    std::vector<std::string> names;
    for (std::size_t i = 0; i < devices_.size(); ++i) {
        names.emplace_back(reader.names()[static_cast<std::uint16_t>(i)]);
    }
    registers_.bind(devices_);
    interrupts_.bind(devices_, names, tree);
}

} // namespace mmioscope::registers
