#include "registers/trace_devices.hpp"

#include "tree/device_tree.hpp"

#include <algorithm>

namespace mmioscope::registers {

TraceDevices::TraceDevices(const Sources& sources)
    : book_(RegisterBook::shipped()), registers_(book_) {
    for (const std::string& file : sources.files) {
        book_.add_file(file);
    }
    if (!sources.tree.empty()) {
        tree_ = tree::read_tree(sources.tree);
    }
}

void TraceDevices::refresh(const trace::TraceReader& reader) {
    if (!fresh_ && (reader.device_changes() == seen_changes_ ||
                    (tree::same_regions(reader.regions(), seen_regions_) &&
                     std::ranges::equal(reader.tree(), seen_tree_)))) {
        return;
    }
    fresh_ = false;
    seen_changes_ = reader.device_changes();
    seen_regions_.assign(reader.regions().begin(), reader.regions().end());
    seen_tree_.assign(reader.tree().begin(), reader.tree().end());
    const std::span<const std::byte> tree = tree_.empty() ? reader.tree() : tree_;
    devices_ = list_devices(reader.regions(), tree);
    name_pci_functions(devices_, reader.text());
    std::vector<std::string> names;
    for (std::size_t i = 0; i < devices_.size(); ++i) {
        names.emplace_back(reader.names()[static_cast<std::uint16_t>(i)]);
    }
    registers_.bind(devices_);
    interrupts_.bind(devices_, names, tree);
}

std::vector<std::string> TraceDevices::remarks() {
    std::vector<std::string> lines;
    for (const LeftOut& file : book_.left_out()) {
        lines.push_back(file.count == 1 ? fmt::format("{}: left out", file.first)
                                        : fmt::format("{}: left out, and {} more of this file",
                                                      file.first, file.count - 1));
    }
    if (book_.has_files() && !devices_.empty()) {
        for (std::uint16_t i = 0; i < devices_.size(); ++i) {
            registers_.description(i);
        }
        for (const std::string& file : book_.unused()) {
            lines.push_back(file + ": it describes no device of this trace: compare addresses and "
                                   "compatible strings with `mmioscope info`");
        }
    }
    return lines;
}

} // namespace mmioscope::registers
