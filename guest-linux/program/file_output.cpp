#include "file_output.hpp"

#include "announced.hpp"

namespace mmioscope::guest {

FileOutput::FileOutput(FileDescriptor file, const rings::Area& area, const std::string& about)
    : file_(std::move(file)), writer_(file_.get(), progress_) {
    const abi::Info info = area.info();
    writer_.values(abi::SectionType::info, std::span(&info, 1));
    writer_.section(abi::SectionType::device_tree, device_tree());
    writer_.values(abi::SectionType::regions, std::span<const abi::RegionEntry>(area.regions()));
    writer_.text(about);
}

void FileOutput::finish(const Closing& closing) {
    writer_.flush();
    writer_.values(abi::SectionType::losses, std::span<const abi::Loss>(closing.losses.losses()));
    writer_.values(abi::SectionType::statistics,
                   std::span<const abi::Statistics>(closing.statistics));
    writer_.text(closing.text);
    writer_.finish(closing.losses.lost(), closing.ending);
}

} // namespace mmioscope::guest
