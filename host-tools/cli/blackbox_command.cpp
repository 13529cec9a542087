#include "cli/commands.hpp"
#include "cli/name_options.hpp"
#include "cli/option_types.hpp"
#include "cli/view_options.hpp"
#include "lib/black_box.hpp"
#include "lib/error.hpp"
#include "lib/marker_text.hpp"
#include "lib/ram_image.hpp"
#include "lib/recorded_boot.hpp"
#include "lib/records_as_trace.hpp"
#include "lib/report.hpp"
#include "lib/size.hpp"
#include "reading/trace.hpp"
#include "view/line.hpp"

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

namespace mmioscope::cli {

namespace {

struct Options {
    ViewOptions view;
    std::string base; ///< empty: not known
    std::uint64_t count = 64;
    bool current = false;
};

constexpr char footer[] = R"(
FILE holds the machine's RAM as it is: a raw dump, the file of QEMU's memory-backend-file (mmioscope run --ram), or
/proc/PID/fd/N of a QEMU that runs. Or it is a trace file, or a stream's bytes, of the boot behind a reset, which begin
with what the hypervisor found of the boot before. It is never written to. It may be compressed with zstd; - is standard
input.

Examples:
  mmioscope blackbox ram.bin                          before the last reset; else before the dump
  mmioscope blackbox --base 0x80000000 -n 200 ram.bin
  mmioscope blackbox boot.2.mmio                      the end of the boot before this trace's
  mmioscope blackbox --current ram.bin                of the boot that was running, whatever came before

Exit status 0 if a boot was found and all its records are whole, 1 if none was or some were damaged, 2 on bad input.
)";

std::string boot_id(const abi::AreaHeader& header) {
    std::string text;
    for (const std::uint8_t byte : header.boot_id) {
        text += fmt::format("{:02x}", byte);
    }
    return text;
}

// Why there is nothing of an earlier boot; empty if there is, or that says nothing.
const char* why_not_kept(abi::Kept kept) {
    switch (kept) {
    case abi::Kept::damaged: return "; what the previous boot had left was damaged";
    case abi::Kept::other_layout: return "; what the previous boot had left had another layout";
    case abi::Kept::no_room: return "; the area is too small to keep a previous boot";
    default: return "";
    }
}

/// A boot, as far as it is known.
struct KnownBoot {
    const trace::Area& area;
    std::span<const std::byte> tree; ///< empty: not known
    const char* which;
};

// The lines of one boot's records.
class Lines {
public:
    Lines(const KnownBoot& boot, const Options& options, const view::Output& out)
        : boot_(boot), names_(boot.area.regions(), boot.tree), options_(options), out_(out) {}

    /// Times are those of the machine's counter, since its 0.
    void print(std::span<const abi::Record> records, bool finished) {
        const FileDescriptor file = trace::as_trace(boot_.area, boot_.tree, records);
        trace::FileSource source(file.get());
        reading::TraceOptions chosen = selection(options_.view);
        chosen.path = options_.view.file;
        chosen.start = 0;
        reading::Trace trace(chosen, source);
        view::LineFormat& format = format_of(trace.reader());
        if (finished) {
            fmt::print(out_.file(), "{}\n", format.titles());
        }
        trace::MarkerTexts markers;
        while (const Event* event = trace.next()) {
            if (event->record->type != abi::RecordType::marker) {
                print(*event, finished, format);
            } else if (const std::optional<trace::Marker> marker = markers.add(*event->record)) {
                print(*marker, event->nanoseconds, format);
            }
        }
        for (const trace::Marker& marker : markers.open()) {
            print(marker, reading::nanoseconds(marker.record.time, frequency()), format);
        }
    }

    /// Whatever -F says: most of what it might ask is not known.
    void print_in_flight(const abi::Record& record) {
        const std::vector<unsigned>& cpus = options_.view.trace.cpus;
        if (!cpus.empty() && std::ranges::find(cpus, record.cpu) == cpus.end()) {
            return;
        }
        const std::uint64_t nanoseconds = reading::nanoseconds(record.time, frequency());
        view::LineStyle style;
        style.frequency = frequency();
        const std::uint64_t offset = abi::physical_address(record) - names_.base(record.device);
        fmt::print(
            out_.file(),
            "{:>12} cpu{} ?? {:<{}} +{:#05x} {:<10} {}(in flight; no begin record tells "
            "more)\n",
            view::LineFormat(style).time(static_cast<std::int64_t>(nanoseconds), record.time),
            record.cpu, names_[record.device], names_.width(), offset, "?",
            options_.view.trace.no_pc ? "" : fmt::format("pc {:#010x} ", record.pc));
    }

private:
    std::uint32_t frequency() const { return boot_.area.header().counter_frequency; }

    view::LineFormat& format_of(const trace::TraceReader& reader) {
        if (!format_) {
            view::LineStyle style = line_style(options_.view, reader, out_);
            style.task = false; // stands behind each line
            format_.emplace(style);
        }
        return *format_;
    }

    // The task's address is all that is known of it: its name was in memory that is another's now.
    void print(const Event& event, bool with_task, view::LineFormat& format) {
        std::string line;
        format.append(line, event);
        fmt::print(out_.file(), "{}{}\n", line,
                   with_task ? fmt::format(" task {:#x}", event.record->task) : "");
    }
    void print(const trace::Marker& marker, std::uint64_t nanoseconds, view::LineFormat& format) {
        Event event;
        event.record = &marker.record;
        event.nanoseconds = nanoseconds;
        event.text = marker.text;
        std::string line;
        format.append(line, event);
        fmt::print(out_.file(), "{}\n", line);
    }

    const KnownBoot& boot_;
    trace::DeviceNames names_;
    const Options& options_;
    const view::Output& out_;
    std::optional<view::LineFormat> format_;
};

void print_accesses(const trace::LastAccesses& last, Lines& lines, std::FILE* out) {
    fmt::print(out, "unfinished: {}\n", last.unfinished.empty() ? "nothing" : "");
    std::vector<abi::Record> described;
    for (const trace::Unfinished& access : last.unfinished) {
        if (access.described) {
            described.push_back(access.record);
        } else {
            lines.print_in_flight(access.record);
        }
    }
    std::ranges::stable_sort(described, {}, &abi::Record::time);
    if (!described.empty()) {
        lines.print(described, false);
    }
    fmt::print(out, "the last {} before:\n", last.records.size());
    lines.print(last.records, true);
}

Status print_boot(const KnownBoot& boot, const Options& options) {
    const abi::AreaHeader& header = boot.area.header();
    reading::check_cpus(options.view.trace.cpus, header.cpu_count);
    view::Output out(options.view.output);
    const std::string board(header.board, ::strnlen(header.board, sizeof header.board));
    fmt::print(out.file(), "{}, id {}, {}, {} CPUs{}{}\n", boot.which, boot_id(header), board,
               header.cpu_count,
               header.state == abi::AreaState::panicked ? ", the hypervisor had stopped" : "",
               why_not_kept(header.kept));
    const trace::LastAccesses last = trace::last_accesses(boot.area, options.count);
    Lines lines(boot, options, out);
    print_accesses(last, lines, out.file());
    fmt::print(out.file(), "{}", trace::other_counts({}, boot.area.statistics()));
    if (last.damaged > 0) {
        fmt::print(out.file(), "{} records were damaged, and are left out\n", last.damaged);
    }
    out.close();
    return last.damaged == 0 ? Status::fine : Status::failed;
}

Status print_recorded(std::optional<trace::RecordedBoot> told, const Options& options) {
    const std::optional<trace::Area> area =
        told && !options.current ? trace::sound_area(told->area.bytes()) : std::nullopt;
    if (!area) {
        throw failure("{}: a trace that tells nothing of an earlier boot", options.view.file);
    }
    return print_boot({*area, told->tree, "previous boot"}, options);
}

Status blackbox(Options options) {
    options.view.file = trace_options(options.view).path; // that of -i, too
    reading::check(selection(options.view));
    std::optional<std::uint64_t> base;
    if (!options.base.empty()) {
        base = parse_number(options.base);
        if (!base || *base % 4096 != 0) {
            throw bad_input("--base {}: must be the address of a page", options.base);
        }
    }
    const trace::RamImage image(options.view.file);
    if (trace::is_trace_file(image.bytes())) {
        return print_recorded(trace::previous_boot_in_file(image.bytes()), options);
    }
    const std::optional<trace::FoundArea> found = trace::find_area(image.bytes(), base);
    if (std::optional<trace::RecordedBoot> told =
            found ? std::nullopt : trace::previous_boot_in_stream(image.bytes())) {
        return print_recorded(std::move(told), options);
    }
    if (!found) {
        throw failure("{}: no trace area that holds together{}", options.view.file,
                      base ? " and lies where --base says" : "");
    }
    const std::span<const std::byte> tree = trace::tree_of(*found, image.bytes());
    const std::optional<trace::Area> previous =
        trace::previous_boot(found->area, image.bytes().subspan(found->offset));
    if (previous && !options.current) {
        const bool own = boot_id(previous->header()) == boot_id(found->area.header());
        return print_boot({*previous, tree, own ? "snapshot of the current boot" : "previous boot"},
                          options);
    }
    return print_boot({found->area, tree, "current boot"}, options);
}

} // namespace

void add_blackbox(CLI::App& app, Action& action) {
    CLI::App& command = *app.add_subcommand(
        "blackbox", "Print the last accesses before a reset, a hang or a crash");
    const auto options = std::make_shared<Options>();
    add_input_options(command, options->view);
    add_file(command, "-o,--output", options->view.output, "Write here, not to standard output");
    add_event_options(command, options->view);
    add_name_options(command, options->view.trace);
    add_code_option(command, options->view);
    add_look_options(command, options->view);
    command.add_option("-n", options->count, "So many accesses (default 64)")
        ->check(count_from(1))
        ->type_name("N");
    command.add_option("--base", options->base, "Physical address of the image's first byte")
        ->type_name("ADDRESS");
    command.add_flag("--current", options->current,
                     "The boot that was running, even if it kept a previous one");
    command.footer(footer);
    command.callback([options, &action] { action = [options] { return blackbox(*options); }; });
}

} // namespace mmioscope::cli
