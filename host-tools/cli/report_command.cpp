#include "cli/commands.hpp"
#include "cli/option_types.hpp"
#include "cli/view_options.hpp"
#include "diff/finding_tables.hpp"
#include "diff/findings.hpp"
#include "diff/observer.hpp"
#include "export/output.hpp"
#include "report/page.hpp"
#include "report/trace_report.hpp"
#include "run/boot_image.hpp"
#include "system/file_descriptor.hpp"
#include "system/message.hpp"
#include "system/replaced_file.hpp"

#include <algorithm>
#include <array>
#include <filesystem>
#include <iterator>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace mmioscope::cli::report_command {

namespace {

struct Options {
    ViewOptions view;
    std::string against; ///< a file; empty: none
    std::string page;    ///< a file; empty: that of `make report`
};

constexpr char footer[] = R"(
Writes a trace as one page for a browser, which needs no network: the verdict; a timeline of each device and CPU, from the
whole trace to single accesses; values of registers and fields; where the time went; polls, phases, interrupts, sharing,
regs; and excerpts of the events, to search. --against adds a good boot beside it, and what diff finds.

docs/report.md says what is left out of a long trace, and how the page is used. `make report` makes the page (it needs
npm). -F, --cpu, --from and --to choose the accesses that the page is about.

Examples:
  mmioscope report boot.mmio -o boot.html
  mmioscope report --against good.mmio bad.mmio -o bad.html
  mmioscope report --from 9 --to 10 boot.mmio -o second.html

Exit status: 0 the traces are whole and nothing was lost, 1 otherwise, 2 they cannot be read, or there is no page.
)";

/// What diff finds between two traces.
struct Found {
    std::vector<diff::Finding> findings;
    std::vector<std::string> notes;
};

/// Looks at two traces while they are read: A, then B.
class Comparison {
public:
    reading::Consumer& observer(std::size_t index) { return observers_[index]; }

    /// Both were read.
    Found result(std::span<const report::TraceReport* const> traces) {
        Found found;
        for (std::size_t i = 0; i < traces.size(); ++i) {
            const trace::TraceReader& reader = traces[i]->reader();
            const auto build = reader.text().find("kernel.banner");
            boots_[i].build = build == reader.text().end() ? "" : build->second;
            boots_[i].name = i == 0 ? "A" : "B";
            if (traces[i]->status() != Status::fine) {
                found.notes.push_back(
                    fmt::format("{} is not complete: what it lacks, or seems to do "
                                "in another way, may only be lost",
                                boots_[i].name));
            }
        }
        const diff::Alike alike = diff::alike(sites_, std::array{&boots_[0], &boots_[1]});
        std::ranges::move(diff::notes(alike, boots_), std::back_inserter(found.notes));
        found.findings = diff::findings(alike, diff::changes(alike), sites_);
        return found;
    }

private:
    diff::Sites sites_;
    std::array<diff::Boot, 2> boots_;
    std::array<diff::Observer, 2> observers_{{{sites_, boots_[0]}, {sites_, boots_[1]}}};
};

// Numbers of events that the findings name on one side.
std::vector<std::uint64_t> events_of(std::span<const diff::Finding> findings,
                                     diff::Side diff::Finding::*side) {
    std::vector<std::uint64_t> events;
    for (const diff::Finding& finding :
         findings.first(std::min(findings.size(), report::rows_with_excerpts))) {
        if ((finding.*side).event != 0) {
            events.push_back((finding.*side).event);
        }
    }
    return events;
}

/// Writes all traces, the last one as B if there is another.
void write(report::Script& to, std::span<report::TraceReport* const> traces, const Found& found,
           const reading::DriveOptions& how) {
    to.put("{\"traces\":[");
    for (report::TraceReport* trace : traces) {
        to.put(trace == traces.front() ? "" : ",");
        trace->write(to,
                     events_of(found.findings,
                               trace == traces.back() ? &diff::Finding::b : &diff::Finding::a),
                     how);
    }
    to.put("]");
    if (traces.size() > 1) {
        to.put(",\"diff\":");
        report::put_findings(to, found.findings, found.notes);
    }
    to.put("}");
    to.flush();
}

// The traces that the page is about: the good boot first.
std::vector<reading::TraceOptions> inputs_of(const Options& options) {
    std::vector<reading::TraceOptions> inputs;
    if (!options.against.empty()) {
        ViewOptions good = options.view;
        good.file = options.against;
        good.input.clear();
        inputs.push_back(file_options(good, "report"));
    }
    inputs.push_back(file_options(options.view, "report"));
    return inputs;
}

Status report(const Options& options) {
    const report::Page page =
        report::load_page(options.page.empty() ? report::find_page(run::folder_of_this_program())
                                               : std::filesystem::path(options.page));
    const reading::DriveOptions how = drive_options(options.view, "read");
    std::vector<std::unique_ptr<report::TraceReport>> owned;
    std::vector<report::TraceReport*> traces;
    for (const reading::TraceOptions& input : inputs_of(options)) {
        traces.push_back(owned.emplace_back(std::make_unique<report::TraceReport>(input)).get());
    }
    check_distinct(options.view.output.empty() ? "-" : options.view.output, {options.page});
    exporting::Output out(options.view.output.empty() ? "-" : options.view.output);
    if (out.terminal()) {
        throw bad_input("a page is not for a terminal: use -o FILE");
    }
    const auto comparison = traces.size() > 1 ? std::make_unique<Comparison>() : nullptr;
    for (std::size_t i = 0; i < traces.size(); ++i) {
        traces[i]->read(how, comparison ? &comparison->observer(i) : nullptr);
    }
    const auto append_text = [&out](std::string_view text) {
        append(out.fd(), std::as_bytes(std::span(text)), out.name().c_str());
    };
    append_text(page.before);
    report::Script script(append_text);
    write(script, traces, comparison ? comparison->result(traces) : Found(), how);
    append_text(page.after);
    out.finish();
    Status status = Status::fine;
    for (const report::TraceReport* trace : traces) {
        print_message("{}", trace->verdict());
        status = trace->status() == Status::fine ? status : trace->status();
    }
    return status;
}

Action add(CLI::App& command, const std::string&) {
    const auto options = std::make_shared<Options>();
    add_view_options(command, options->view);
    add_file(command, "--against", options->against,
             "A good boot: show it beside the trace, and what diff finds");
    add_file(command, "--page", options->page,
             "The page to put the data into, instead of that of make report");
    command.footer(footer);
    return [options] { return report(*options); };
}

} // namespace

const Command row{"report", "Write a trace as a page for a browser", add};

} // namespace mmioscope::cli::report_command
