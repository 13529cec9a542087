#include "trace_content.hpp"

#include "file/trace_reader.hpp"
#include "system/byte_source.hpp"
#include "system/error.hpp"
#include "system/file_descriptor.hpp"

#include <algorithm>
#include <span>
#include <string>

namespace mmioscope::test {

TraceContent read_content(const char* path) {
    TraceContent content;
    const FileDescriptor in = open_input(path);
    FileSource source(in.get());
    const auto keep = [&content](const trace::Section& section) {
        if (section.type != abi::SectionType::end && section.type != abi::SectionType::index) {
            content.others.push_back({content.records.size(),
                                      section.type,
                                      {section.payload.begin(), section.payload.end()}});
        }
    };
    trace::TraceReader reader(
        source, [](const std::string& text) { throw bad_input("{}", text); }, keep);
    for (auto block = reader.next(); !block.empty(); block = reader.next()) {
        content.records.insert(content.records.end(), block.begin(), block.end());
        content.callers.insert(content.callers.end(), reader.callers().begin(),
                               reader.callers().end());
        content.callers.resize(content.records.size(), trace::lr_holds);
    }
    if (!reader.end()) {
        throw bad_input("{}: cut off", path);
    }
    content.ending = reader.end()->ending;
    return content;
}

void write_content(const char* path, const TraceContent& content) {
    const FileDescriptor out = create_output(path);
    trace::WriteProgress progress;
    trace::FileWriter writer(out.get(), progress);
    std::size_t done = 0;
    const auto records_up_to = [&](std::size_t end) {
        const std::size_t count = std::min(end, content.records.size()) - done;
        writer.append(std::span(content.records).subspan(done, count),
                      std::span(content.callers).subspan(done, count));
        done += count;
    };
    for (const OtherSection& other : content.others) {
        records_up_to(std::max(other.in_front, done));
        writer.flush();
        writer.section_packed(other.type, other.payload);
    }
    records_up_to(content.records.size());
    writer.finish(0, content.ending);
}

} // namespace mmioscope::test
