#include "verify/compare.hpp"

#include "abi/record.hpp"
#include "abi/shared_wire.hpp"
#include "file/unfinished.hpp"
#include "import/importing.hpp"
#include "verify/align.hpp"
#include "verify/leftovers.hpp"

#include <algorithm>
#include <limits>
#include <map>
#include <optional>
#include <queue>

namespace mmioscope::verify {

// Accesses that a trace cannot have, because the machine ended before their records were made.

/// The machine may live on for a moment, but not long enough to report it. A few lines of the log
/// after an access that can end the machine (abi::flag_early) and after everything in the trace are
/// therefore not missing. Removes them from `differences`, and returns their number.
std::uint64_t leave_out_behind_end(std::vector<Difference>& differences,
                                   std::span<const importing::Event> events,
                                   const Matching& matching);

/// An access in whose middle the machine ended may have been on the bus, with all of its words or
/// some. Lines of its CPU that follow everything this CPU has in the trace, as far as one
/// instruction reaches, are therefore not missing. Removes them from `differences`, and returns
/// their number.
std::uint64_t leave_out_unfinished(std::vector<Difference>& differences,
                                   std::span<const importing::Line> lines,
                                   std::span<const importing::Event> events,
                                   const Matching& matching,
                                   std::span<const trace::UnfinishedAccess> unfinished);

// Handles device models that are big-endian in QEMU: it swaps the values, and logs the model's
// side. The trace has the bus's side.

/// Changes the values of such lines to the bus's, within the bytes of their size.
void swap_big_endian(importing::AccessLog& log);

// Checks that the trace has its events in the order of the bus.

/// The events that are out of order, each once. In the order of the file,
///   - the events of one CPU, and those of one device, must be in the order of their lines;
///   - cpu_sequence of a CPU, lock_sequence of a device (the hypervisor takes no lock for its
///     own accesses), and time must not go back;
///   - an event that ended before another began must have the earlier line. Different devices may
///     differ only where the intervals [time, time + duration] overlap.
/// A flag_early record was published before the access, so its end is unknown. The time of a
/// flag_boot record is later than the access, so its start is unknown.
///
/// Ignores events that are `altered`, that is, whose fields differ from the log.
std::vector<Difference> check_order(std::span<const importing::Event> events,
                                    const Matching& matching, const std::vector<bool>& altered);

// The accesses by which the stream leaves through the guest's own UART (abi/shared_wire.hpp).

/// Leaves them out of `log`, where they stand between the guest's, and counts them. The hypervisor
/// makes two for each byte: it reads whether there is room, and stores. A store is the stream's if
/// what the UART sends for it is. So the guest's own accesses to the UART are compared like all
/// others.
void leave_out_shared(importing::AccessLog& log, std::span<const abi::RegionEntry> regions);

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

namespace {

/// A driver does less than this before the power is off; more means that the trace was cut off.
constexpr std::size_t most_behind = 64;

/// Bytes that one instruction reaches: VLDM of sixteen doublewords.
constexpr std::uint64_t longest = 128;

/// The last line that matches an event of `cpu`; nothing if none does.
std::optional<std::uint32_t> last_line_of(unsigned cpu, std::span<const importing::Event> events,
                                          const Matching& matching) {
    std::optional<std::uint32_t> last;
    for (std::size_t event = 0; event < events.size(); ++event) {
        const std::uint32_t line = matching.line_of[event];
        if (events[event].cpu == cpu && line != importing::nowhere) {
            last = std::max(last.value_or(0), line);
        }
    }
    return last;
}

} // namespace

std::uint64_t leave_out_unfinished(std::vector<Difference>& differences,
                                   std::span<const importing::Line> lines,
                                   std::span<const importing::Event> events,
                                   const Matching& matching,
                                   std::span<const trace::UnfinishedAccess> unfinished) {
    std::uint64_t count = 0;
    for (const trace::UnfinishedAccess& access : unfinished) {
        const std::optional<std::uint32_t> last = last_line_of(access.cpu, events, matching);
        count += std::erase_if(differences, [&](const Difference& difference) {
            if (difference.kind != Kind::missing || (last && difference.line < *last)) {
                return false;
            }
            const importing::Line& line = lines[difference.line];
            return line.kind == importing::LineKind::access &&
                   line.cpu == static_cast<int>(access.cpu) && line.address - access.pa < longest;
        });
    }
    return count;
}

std::uint64_t leave_out_behind_end(std::vector<Difference>& differences,
                                   std::span<const importing::Event> events,
                                   const Matching& matching) {
    bool ends = false;
    std::uint32_t last = 0; // line that matches the trace
    for (std::size_t event = 0; event < events.size(); ++event) {
        if (matching.line_of[event] != importing::nowhere) {
            ends |= (events[event].flags & abi::flag_early) != 0;
            last = std::max(last, matching.line_of[event]);
        }
    }
    const auto behind = [last](const Difference& difference) {
        return difference.kind == Kind::missing && difference.line > last;
    };
    const auto count = std::count_if(differences.begin(), differences.end(), behind);
    if (!ends || count > static_cast<std::ptrdiff_t>(most_behind)) {
        return 0;
    }
    return std::erase_if(differences, behind);
}

namespace {

// QEMU's names of memory regions (hw/nvram/fw_cfg.c).
constexpr std::array<std::string_view, 3> big_endian = {"fwcfg.ctl", "fwcfg.data", "fwcfg.dma"};

std::uint64_t swapped(std::uint64_t value, unsigned size) {
    return size == 0 || size > 8 ? value : __builtin_bswap64(value) >> (64 - 8 * size);
}

} // namespace

void swap_big_endian(importing::AccessLog& log) {
    std::vector<bool> is_big(log.regions.size());
    for (std::size_t i = 0; i < is_big.size(); ++i) {
        is_big[i] = std::ranges::find(big_endian, log.regions[i]) != big_endian.end();
    }
    for (importing::Line& line : log.lines) {
        if (line.kind == importing::LineKind::access && is_big[line.region]) {
            line.value = swapped(line.value, line.size);
        }
    }
}

namespace {

constexpr std::uint64_t never = std::numeric_limits<std::uint64_t>::max();

bool backwards(std::uint32_t before, std::uint32_t now) {
    return static_cast<std::int32_t>(now - before) <= 0;
}

/// The last event of a CPU or a device: its line, and its sequence number.
struct Last {
    bool seen = false;
    std::uint32_t line = 0;
    std::uint32_t sequence = 0;

    // Returns true if the next one is out of order.
    bool step(std::uint32_t next_line, std::uint32_t next_sequence) {
        const bool wrong = seen && (next_line < line || backwards(sequence, next_sequence));
        line = next_line;
        sequence = next_sequence;
        seen = true;
        return wrong;
    }
};

/// The latest line of all events that ended before a moment; moments only increase.
class Over {
public:
    void add(std::uint64_t end, std::uint32_t line) { running_.push({end, line}); }

    std::uint32_t latest_line(std::uint64_t moment) {
        while (!running_.empty() && running_.top().first < moment) {
            latest_ = std::max(latest_, running_.top().second);
            running_.pop();
        }
        return latest_;
    }

private:
    using Item = std::pair<std::uint64_t, std::uint32_t>;
    std::priority_queue<Item, std::vector<Item>, std::greater<>> running_;
    std::uint32_t latest_ = 0;
};

class OrderCheck {
public:
    bool wrong(const importing::Event& event, std::uint32_t line) {
        bool wrong = cpus_[event.cpu].step(line, event.cpu_sequence);
        if (event.device != abi::no_device && !event.own) {
            wrong |= devices_[event.device].step(line, event.lock_sequence);
        }
        wrong |= event.time < time_;
        time_ = event.time;
        return wrong | contradicts_time(event, line);
    }

private:
    bool contradicts_time(const importing::Event& event, std::uint32_t line) {
        const bool boot = (event.flags & abi::flag_boot) != 0;
        const bool early = (event.flags & abi::flag_early) != 0;
        const bool wrong = !boot && over_.latest_line(event.time) > line;
        over_.add(early ? never : event.time + event.duration, line);
        return wrong;
    }

    std::map<std::uint8_t, Last> cpus_;
    std::map<std::uint16_t, Last> devices_;
    Over over_;
    std::uint64_t time_ = 0;
};

} // namespace

std::vector<Difference> check_order(std::span<const importing::Event> events,
                                    const Matching& matching, const std::vector<bool>& altered) {
    std::vector<Difference> differences;
    OrderCheck check;
    for (std::uint32_t event = 0; event < events.size(); ++event) {
        const std::uint32_t line = matching.line_of[event];
        if (line != importing::nowhere && !altered[event] && check.wrong(events[event], line)) {
            differences.push_back({Kind::order, line, event});
        }
    }
    return differences;
}

namespace {

/// A UART's registers, as offsets.
struct Model {
    std::string_view name; ///< QEMU's, in the log
    std::uint64_t data;    ///< what is sent
    std::uint64_t status;  ///< whether there is room for it
    std::size_t setup;     ///< accesses by which the hypervisor sets it up, before its first byte
};
constexpr Model models[] = {{"pl011", 0x00, 0x18, 6}, {"imx.serial", 0x40, 0xb4, 9}};

const Model* model_of(const std::string& name) {
    const auto* const found = std::ranges::find(models, name, &Model::name);
    return found == std::end(models) ? nullptr : found;
}

constexpr std::uint64_t register_size = 4;

/// Finds the stream's accesses in the lines of one UART, in their order.
class Finder {
public:
    explicit Finder(std::uint64_t base) : base_(base) {}

    /// Line `number` of the log. Appends those that turn out to be the stream's to `found`.
    void add(const importing::Line& line, const Model& model, std::size_t number,
             std::vector<std::size_t>& found) {
        const std::uint64_t offset = line.address - base_;
        std::size_t& look = looks_[line.cpu];
        if (line.write && offset - model.data < register_size) {
            const auto owner = splitter_.take(static_cast<std::uint8_t>(line.value));
            if (owner != abi::shared_wire::Owner::console) {
                if (look != none) {
                    add_setup(look - 1, model.setup, found);
                    found.push_back(look - 1);
                }
                found.push_back(number);
            }
        }
        if (!begun_) {
            before_.push_back(number);
        }
        const bool looks = !line.write && offset == model.status && line.size == register_size;
        look = looks ? number + 1 : none;
    }

private:
    static constexpr std::size_t none = 0;

    /// Directly before the first byte, for which line `look` made sure that there is room.
    void add_setup(std::size_t look, std::size_t lines, std::vector<std::size_t>& found) {
        if (!begun_) {
            const auto end = std::ranges::find(before_, look);
            const auto count = std::min(static_cast<std::ptrdiff_t>(lines), end - before_.begin());
            found.insert(found.end(), end - count, end);
        }
        begun_ = true;
    }

    std::uint64_t base_;
    bool begun_ = false;              ///< a byte of the stream was sent
    std::vector<std::size_t> before_; ///< the lines up to then
    abi::shared_wire::Splitter splitter_;
    /// By CPU: its last line here, plus 1, if it read whether there is room.
    std::map<int, std::size_t> looks_;
};

} // namespace

void leave_out_shared(importing::AccessLog& log, std::span<const abi::RegionEntry> regions) {
    for (const abi::RegionEntry& region : regions) {
        if ((region.flags & abi::region_shared) == 0) {
            continue;
        }
        Finder finder(region.base);
        std::vector<std::size_t> found;
        for (std::size_t number = 0; number < log.lines.size(); ++number) {
            const importing::Line& line = log.lines[number];
            if (line.address - region.base >= region.size) {
                continue;
            }
            if (const Model* const model = model_of(log.regions[line.region])) {
                finder.add(line, *model, number, found);
            }
        }
        std::ranges::sort(found);
        log.of_stream += found.size();
        std::size_t number = 0;
        auto next = found.begin();
        std::erase_if(log.lines, [&](const importing::Line&) {
            const bool here = next != found.end() && *next == number;
            next += here ? 1 : 0;
            ++number;
            return here;
        });
    }
}

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
