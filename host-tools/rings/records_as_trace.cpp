#include "rings/records_as_trace.hpp"

#include "file/file_writer.hpp"

#include <unistd.h>

namespace mmioscope::rings {

FileDescriptor as_trace(const rings::Area& area, std::span<const std::byte> tree,
                        std::span<const abi::Record> records) {
    FileDescriptor file = memory_file("records", 0);
    trace::WriteProgress progress;
    trace::FileWriter writer(file.get(), progress);
    const abi::Info info = area.info();
    writer.values(abi::SectionType::info, std::span(&info, 1));
    writer.section(abi::SectionType::device_tree, tree);
    writer.values(abi::SectionType::regions, std::span<const abi::RegionEntry>(area.regions()));
    writer.append(records);
    writer.finish(0, abi::Ending::machine_off);
    ::lseek(file.get(), 0, SEEK_SET);
    return file;
}

} // namespace mmioscope::rings
