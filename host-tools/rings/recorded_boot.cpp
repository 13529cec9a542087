#include "rings/recorded_boot.hpp"

#include "file/file_reader.hpp"
#include "file/file_writer.hpp"
#include "records/returns.hpp"
#include "wire/wire_decoder.hpp"

#include <unistd.h>

#include <algorithm>
#include <cstring>

namespace mmioscope::rings {

namespace {

struct LastOne : wire::WireSink {
    std::vector<std::byte> tree;
    std::optional<RecordedBoot> found;

    void hello(const wire::StreamHead& head) override { tree = wire::alias_tree(head); }
    void previous_boot(std::span<const std::byte> area) override {
        found = RecordedBoot{wire::AreaImage(area), tree};
    }
    void records(std::span<const abi::Record>) override {}
    void end(const abi::EndHeader&, std::span<const abi::Statistics>) override {}
};

} // namespace

bool is_trace_file(std::span<const std::byte> bytes) {
    return bytes.size() >= sizeof abi::file_magic &&
           std::memcmp(bytes.data(), abi::file_magic, sizeof abi::file_magic) == 0;
}

std::optional<RecordedBoot> previous_boot_in_file(std::span<const std::byte> bytes) {
    MemorySource source(bytes);
    trace::FileReader reader(source, [](const std::string&) {});
    std::vector<std::byte> tree;
    std::optional<RecordedBoot> found;
    while (const std::optional<trace::Section> section = reader.next()) {
        if (section->type == abi::SectionType::device_tree) {
            tree.assign(section->payload.begin(), section->payload.end());
        } else if (section->type == abi::SectionType::previous_boot && !section->cut) {
            found = RecordedBoot{wire::AreaImage(section->payload), tree};
        }
    }
    return found;
}

std::optional<RecordedBoot> previous_boot_in_stream(std::span<const std::byte> bytes,
                                                    const Passed& passed) {
    LastOne last;
    wire::WireDecoder decoder(last);
    while (!bytes.empty()) {
        const auto piece = bytes.first(std::min<std::size_t>(bytes.size(), 1 << 20));
        decoder.feed(piece);
        passed(piece.size());
        bytes = bytes.subspan(piece.size());
    }
    return std::move(last.found);
}

FileDescriptor as_trace(const rings::Area& area, std::span<const std::byte> tree,
                        std::span<const abi::Record> records) {
    FileDescriptor file = memory_file("records", 0);
    trace::WriteProgress progress;
    trace::FileWriter writer(file.get(), progress);
    const abi::Info info = area.info();
    writer.values(abi::SectionType::info, std::span(&info, 1));
    writer.section(abi::SectionType::device_tree, tree);
    writer.values(abi::SectionType::regions, std::span<const abi::RegionEntry>(area.regions()));
    writer.append(trace::Returns().completed(records));
    writer.finish(0, abi::Ending::machine_off);
    ::lseek(file.get(), 0, SEEK_SET);
    return file;
}

} // namespace mmioscope::rings
