#include "cli/commands.hpp"
#include "lib/black_box.hpp"
#include "lib/device_tree.hpp"
#include "lib/error.hpp"
#include "lib/marker_text.hpp"
#include "lib/ram_image.hpp"
#include "lib/record_text.hpp"
#include "lib/recorded_boot.hpp"
#include "lib/report.hpp"
#include "lib/size.hpp"
#include "reading/naming.hpp"
#include "view/line.hpp"

#include <memory>
#include <string>

namespace mmioscope::cli {

namespace {

struct Options {
    std::string file;
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

// The device tree of the boot, for its aliases, if it is still there.
std::span<const std::byte> tree_of(const trace::FoundArea& found, std::span<std::byte> image) {
    const abi::AreaHeader& header = found.area.header();
    const std::uint64_t offset = header.tree_base - (header.area_base - found.offset);
    if (offset > image.size() || header.tree_size > image.size() - offset) {
        return {};
    }
    const std::span<const std::byte> tree = image.subspan(offset, header.tree_size);
    return trace::tree_is_sound(tree) ? tree : std::span<const std::byte>();
}

// The lines of one boot's records.
class Lines {
public:
    Lines(const trace::DeviceNames& names, std::uint32_t frequency)
        : names_(names), frequency_(frequency), format_(style(names, frequency)) {}

    std::string titles() const { return format_.titles(); }

    void print(const abi::Record& record, const std::string& behind) {
        const std::string text = reading::text_of(record);
        print(event(record, text), behind);
    }
    void print(const trace::Marker& marker) { print(event(marker.record, marker.text), ""); }

    void print_in_flight(const abi::Record& record) {
        const Event access = event(record, {});
        fmt::print("{:>12} cpu{} ?? {:<{}} +{:#05x} {:<10} pc {:#010x} (in flight; no begin "
                   "record tells more)\n",
                   format_.time(static_cast<std::int64_t>(access.nanoseconds), record.time),
                   record.cpu, access.device, names_.width(), access.offset, "?", record.pc);
    }

private:
    static view::LineStyle style(const trace::DeviceNames& names, std::uint32_t frequency) {
        view::LineStyle style;
        style.frequency = frequency;
        style.device_width = names.width();
        return style;
    }

    // Of the boot before only what the area itself has is known.
    Event event(const abi::Record& record, std::string_view text) const {
        Event event;
        event.record = &record;
        event.nanoseconds = reading::nanoseconds(record.time, frequency_);
        event.device = names_[record.device];
        event.offset = abi::physical_address(record) - names_.base(record.device);
        event.text = text;
        return event;
    }
    void print(const Event& event, const std::string& behind) {
        std::string line;
        format_.append(line, event);
        fmt::print("{}{}\n", line, behind);
    }

    const trace::DeviceNames& names_;
    std::uint32_t frequency_;
    view::LineFormat format_;
};

void print_accesses(const trace::LastAccesses& last, Lines& lines) {
    fmt::print("unfinished: {}\n", last.unfinished.empty() ? "nothing" : "");
    for (const trace::Unfinished& access : last.unfinished) {
        access.described ? lines.print(access.record, "") : lines.print_in_flight(access.record);
    }
    fmt::print("the last {} before:\n{}\n", last.records.size(), lines.titles());
    trace::MarkerTexts markers;
    for (const abi::Record& record : last.records) {
        if (record.type != abi::RecordType::marker) {
            lines.print(record, fmt::format(" task {:#x}", record.task));
        } else if (const std::optional<trace::Marker> marker = markers.add(record)) {
            lines.print(*marker);
        }
    }
    for (const trace::Marker& marker : markers.open()) {
        lines.print(marker);
    }
}

Status print_boot(const trace::Area& area, const char* which, const trace::DeviceNames& names,
                  const Options& options) {
    const abi::AreaHeader& header = area.header();
    const std::string board(header.board, ::strnlen(header.board, sizeof header.board));
    fmt::print("{}, id {}, {}, {} CPUs{}{}\n", which, boot_id(header), board, header.cpu_count,
               header.state == abi::AreaState::panicked ? ", the hypervisor had stopped" : "",
               why_not_kept(header.kept));
    const trace::LastAccesses last = trace::last_accesses(area, options.count);
    Lines lines(names, header.counter_frequency);
    print_accesses(last, lines);
    fmt::print("{}", trace::other_counts({}, area.statistics()));
    if (last.damaged > 0) {
        fmt::print("{} records were damaged, and are left out\n", last.damaged);
    }
    return last.damaged == 0 ? Status::fine : Status::failed;
}

Status print_recorded(std::optional<trace::RecordedBoot> told, const Options& options) {
    const std::optional<trace::Area> area =
        told && !options.current ? trace::sound_area(told->area.bytes()) : std::nullopt;
    if (!area) {
        throw failure("{}: a trace that tells nothing of an earlier boot", options.file);
    }
    return print_boot(*area, "previous boot", trace::DeviceNames(area->regions(), told->tree),
                      options);
}

Status blackbox(const Options& options) {
    std::optional<std::uint64_t> base;
    if (!options.base.empty()) {
        base = parse_number(options.base);
        if (!base || *base % 4096 != 0) {
            throw bad_input("--base {}: must be the address of a page", options.base);
        }
    }
    const trace::RamImage image(options.file);
    if (trace::is_trace_file(image.bytes())) {
        return print_recorded(trace::previous_boot_in_file(image.bytes()), options);
    }
    const std::optional<trace::FoundArea> found = trace::find_area(image.bytes(), base);
    if (std::optional<trace::RecordedBoot> told =
            found ? std::nullopt : trace::previous_boot_in_stream(image.bytes())) {
        return print_recorded(std::move(told), options);
    }
    if (!found) {
        throw failure("{}: no trace area that holds together{}", options.file,
                      base ? " and lies where --base says" : "");
    }
    const trace::DeviceNames names(found->area.regions(), tree_of(*found, image.bytes()));
    const std::optional<trace::Area> previous =
        trace::previous_boot(found->area, image.bytes().subspan(found->offset));
    if (previous && !options.current) {
        const trace::DeviceNames of_previous(previous->regions(), tree_of(*found, image.bytes()));
        const bool own = boot_id(previous->header()) == boot_id(found->area.header());
        return print_boot(*previous, own ? "snapshot of the current boot" : "previous boot",
                          of_previous, options);
    }
    return print_boot(found->area, "current boot", names, options);
}

} // namespace

void add_blackbox(CLI::App& app, Action& action) {
    CLI::App& command = *app.add_subcommand(
        "blackbox", "Print the last accesses before a reset, a hang or a crash");
    const auto options = std::make_shared<Options>();
    command.add_option("file", options->file, "RAM image, or a trace or stream of the next boot")
        ->required();
    command.add_option("-n", options->count, "So many accesses (default 64)")
        ->check(CLI::PositiveNumber);
    command.add_option("--base", options->base, "Physical address of the image's first byte")
        ->type_name("ADDRESS");
    command.add_flag("--current", options->current,
                     "The boot that was running, even if it kept a previous one");
    command.footer(footer);
    command.callback([options, &action] { action = [options] { return blackbox(*options); }; });
}

} // namespace mmioscope::cli
