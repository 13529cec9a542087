#include "verify/pc_log.hpp"

#include "import/text_lines.hpp"
#include "verify/align.hpp"
#include "verify/leftovers.hpp"
#include "verify/streams.hpp"

namespace mmioscope::verify {

namespace {

bool read_line(std::string_view text, importing::Line& line) {
    importing::Fields fields(text);
    line.cpu = fields.number<std::int8_t>();
    line.write = fields.accept(" W ");
    if (!line.write) {
        fields.expect(" R ");
    }
    line.size = fields.number<std::uint8_t>();
    fields.expect(" 0x");
    line.address = fields.number<std::uint64_t>(16);
    fields.expect(" 0x");
    line.pc = fields.number<std::uint32_t>(16);
    line.kind = importing::LineKind::pc;
    return fields.good() && fields.at_end() && line.cpu >= 0;
}

} // namespace

importing::AccessLog read_pc_log(ByteSource& source) {
    importing::AccessLog log;
    log.regions.emplace_back(); // the log names none
    std::uint32_t number = 0;
    importing::for_each_line(source, [&](std::string_view text) {
        importing::Line line{};
        line.number = ++number;
        if (read_line(text, line)) {
            log.lines.push_back(line);
        } else {
            log.unreadable.push_back(number);
        }
    });
    return log;
}

Result compare_pcs(importing::AccessLog& log, std::span<const importing::Event> events,
                   std::span<const abi::RegionEntry> regions) {
    Result result;
    Matching matching(log.lines.size(), events.size());
    for (const Stream& stream : divide(log.lines, events, regions)) {
        align(stream, log.lines, events, matching);
    }
    std::vector<Difference> leftovers = name_leftovers(log.lines, events, matching);
    std::erase_if(leftovers, [&events](const Difference& one) {
        return one.kind == Kind::extra && events[one.event].uncertain;
    });
    add(result, leftovers);
    for (std::uint32_t i = 0; i < events.size(); ++i) {
        const std::uint32_t line = matching.line_of[i];
        if (line == importing::nowhere || !events[i].guest_instruction) {
            continue;
        }
        ++result.compared;
        if (log.lines[line].pc != events[i].pc) {
            add(result, {{Kind::pc, line, i}});
        }
    }
    finish(result, log);
    return result;
}

} // namespace mmioscope::verify
