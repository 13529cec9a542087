#include "verify/compare.hpp"

#include "verify/aliased.hpp"
#include "verify/align.hpp"
#include "verify/behind_end.hpp"
#include "verify/big_endian.hpp"
#include "verify/leftovers.hpp"
#include "verify/order.hpp"
#include "verify/shared_uart.hpp"
#include "verify/streams.hpp"
#include "verify/untraced.hpp"

#include <algorithm>

namespace mmioscope::verify {

namespace {

// What is sent over the stream is the trace: the accesses that send it make no records.
void leave_out_stream(importing::AccessLog& log, std::span<const abi::RegionEntry> regions) {
    for (const abi::RegionEntry& region : regions) {
        if ((region.flags & abi::region_stream) == 0) {
            continue;
        }
        log.of_stream += std::erase_if(log.lines, [&region](const importing::Line& line) {
            return line.address - region.base < region.size;
        });
    }
}

std::vector<bool> altered_events(const std::vector<Difference>& differences, std::size_t count) {
    std::vector<bool> altered(count, false);
    for (const Difference& difference : differences) {
        if (difference.event != importing::nowhere) {
            altered[difference.event] = true;
        }
    }
    return altered;
}

} // namespace

void add(Result& result, const std::vector<Difference>& differences) {
    for (const Difference& difference : differences) {
        result.differences.push_back(difference);
        ++result.by_kind[static_cast<std::size_t>(difference.kind)];
    }
}

void finish(Result& result, const importing::AccessLog& log) {
    for (const std::uint32_t number : log.unreadable) {
        add(result, {{Kind::unreadable, number, importing::nowhere}});
    }
    std::stable_sort(result.differences.begin(), result.differences.end(),
                     [](const Difference& a, const Difference& b) { return a.event < b.event; });
}

Result compare(importing::AccessLog& log, std::span<const importing::Event> events,
               std::span<const abi::RegionEntry> regions,
               std::span<const trace::UnfinishedAccess> unfinished) {
    Result result;
    leave_out_stream(log, regions);
    leave_out_shared(log, regions);
    place_aliased(log, regions);
    swap_big_endian(log);
    result.unselected = leave_out_unselected(log, events, regions);
    const std::vector<bool> unlogged = rom_reads(events, regions);
    Matching matching(log.lines.size(), events.size());
    for (Stream& stream : divide(log.lines, events, regions)) {
        result.rom_reads +=
            std::erase_if(stream.events, [&](std::uint32_t event) { return unlogged[event]; });
        align(stream, log.lines, events, matching);
    }
    std::vector<Difference> leftovers = name_leftovers(log.lines, events, matching);
    std::erase_if(leftovers, [&](const Difference& one) {
        return one.kind == Kind::extra && (unlogged[one.event] || events[one.event].uncertain);
    });
    result.unfinished = leave_out_unfinished(leftovers, log.lines, events, matching, unfinished);
    result.behind_end = leave_out_behind_end(leftovers, events, matching);
    add(result, leftovers);
    add(result, check_order(events, matching, altered_events(result.differences, events.size())));
    finish(result, log);
    result.artefacts = matching.artefacts;
    result.compared = static_cast<std::uint64_t>(
        std::count_if(matching.line_of.begin(), matching.line_of.end(),
                      [](std::uint32_t line) { return line != importing::nowhere; }));
    return result;
}

} // namespace mmioscope::verify
