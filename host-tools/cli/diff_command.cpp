#include "cli/commands.hpp"
#include "cli/option_types.hpp"
#include "cli/view_options.hpp"
#include "diff/findings.hpp"
#include "diff/observer.hpp"
#include "diff/profile.hpp"
#include "export/output.hpp"
#include "file/part_files.hpp"
#include "reading/tally.hpp"
#include "system/escape.hpp"
#include "system/file_descriptor.hpp"
#include "system/message.hpp"
#include "system/replaced_file.hpp"
#include "view/print_output.hpp"

#include <algorithm>
#include <memory>
#include <set>
#include <utility>

namespace mmioscope::cli::diff_command {

namespace {

struct Options {
    ViewOptions view;
    std::vector<std::string> good;
    std::vector<std::string> files;
    std::vector<std::string> devices;
    std::vector<std::string> pairs;
    std::string profile;
    bool all = false;
};

constexpr char footer[] = R"(
Prints what one boot did that the other did not: accesses that are missing, extra, or have another value; then, less
sure: changes of order, of number, and of values read from registers. Ignores what varies between any two boots of one
kernel: times, CPUs, where tasks and interrupts run, how often a loop polls. Devices are the same if they have the same
address and a common compatible, whatever their names; PCI functions if they are the first, the second ... of one vendor
and device; --pair names others. A is the first trace, or all of --good; B
is the last one. With several good boots, diff learns what varies, and can say more; three are good, five are better.
It compares counts and values read from registers if there are three good boots. docs/sameness.md has the rules.

--from and --to choose the same part of each trace, best by marks (--from mark:NAME): a time is another moment in each
boot.

If a driver stops, all that follows is one finding ("... stops") behind the cause. --all lists it finding by finding.

With --good, --profile saves what diff learned from the good boots; B is then optional. Without --good, --profile reads
that file instead of good boots.

count_a, count_b, event_a and event_b (csv, jsonl) are the accesses of a finding, and the first one's number
(mmioscope print --at). html is one page with A and B side by side.

Examples:
  mmioscope diff good.mmio bad.mmio
  mmioscope diff --good a1.mmio a2.mmio a3.mmio -- bad.mmio
  mmioscope diff --good a*.mmio --profile good.profile
  mmioscope diff --profile good.profile bad.mmio
  mmioscope diff --dev mmc --format html -o diff.html good.mmio bad.mmio
  git bisect run sh -c 'make zImage || exit 125; ./boot-and-trace new.mmio; mmioscope diff --profile good.profile new.mmio'

Exit status: 0 the same, or nothing that is sure; 1 a sure finding; 125 a trace is incomplete or cannot be read, no trace
has anything to compare, or the output cannot be written; 2 wrong usage.
)";

/// What the command line asks for.
struct Task {
    std::vector<std::string> good;
    std::string other; ///< empty: only learn
    bool reads_profile = false;
    bool writes_profile = false;
};

Task task_of(const Options& options) {
    Task task;
    task.good = options.good;
    task.writes_profile = !options.profile.empty() && !options.good.empty();
    task.reads_profile = !options.profile.empty() && options.good.empty();
    if (task.good.size() > diff::most_boots) {
        throw bad_input("--good: {} boots, and at most {} are compared", task.good.size(),
                        diff::most_boots);
    }
    std::vector<std::string> files = options.files;
    if (task.good.empty() && !task.reads_profile && files.size() == 2) {
        task.good = {files.front()};
        files.erase(files.begin());
    }
    if (files.size() > 1 || (files.empty() && !task.writes_profile) ||
        (task.good.empty() && !task.reads_profile)) {
        throw bad_input("diff takes two traces, or --good FILE... -- FILE, or --profile FILE FILE");
    }
    task.other = files.empty() ? "" : files.front();
    return task;
}

void check_outputs(const Options& options, const Task& task) {
    std::vector<std::string> inputs = task.good;
    inputs.push_back(task.other);
    for (const std::string& path : std::vector<std::string>(inputs)) {
        const std::vector<std::string> parts = trace::part_paths(path);
        inputs.insert(inputs.end(), parts.begin(), parts.end());
    }
    if (task.writes_profile) {
        check_distinct(options.profile, inputs);
    }
    inputs.push_back(options.profile);
    check_distinct(options.view.output.empty() ? "-" : options.view.output, inputs);
    if (std::count(inputs.begin(), inputs.end(), "-") > 1) {
        throw bad_input("only one trace can be standard input");
    }
}

/// Reads traces; what is wrong with them makes the comparison one that nobody can rely on.
class BootReader {
public:
    explicit BootReader(const Options& options) : options_(options) {
        (void)selection(options.view); // reports a wrong range, too
        if (!options.devices.empty()) {
            filter::Filter{filter_of({})}; // reports a wrong filter before reading a trace
        }
        for (const std::string& pair : options.pairs) {
            const std::size_t equals = pair.find('=');
            if (equals == 0 || equals == pair.npos || equals + 1 == pair.size()) {
                throw bad_input("--pair {}: two devices are needed, A=B", pair);
            }
        }
    }

    /// `is_b`: --pair applies to it.
    diff::Boot read(const std::string& path, bool is_b = false) {
        diff::Boot boot;
        boot.name = path;
        reading::TraceOptions chosen = selection(options_.view);
        chosen.path = path;
        reading::Trace trace(chosen);
        diff::Renamed renamed = pairing_.add(trace.reader());
        if (is_b) {
            pair_by_hand(renamed);
        }
        const std::string filter = filter_of(renamed);
        const std::unique_ptr<filter::Filter> wanted =
            filter.empty() ? nullptr : std::make_unique<filter::Filter>(filter);
        if (wanted) {
            learn_unknown(wanted->bind(trace.reader()));
        }
        diff::Observer observer(sites, boot, wanted.get(), std::move(renamed));
        reading::Tally tally(reading::selects(chosen));
        reading::drive(trace, {&tally, &observer}, drive_options(options_.view, "read"));
        const auto build = trace.reader().text().find("kernel.banner");
        boot.build = build == trace.reader().text().end() ? "" : build->second;
        boot.incomplete = tally.status(trace.reader()) != Status::fine;
        if (boot.incomplete) {
            incomplete_.push_back(path);
            const std::string verdict = tally.verdict(trace.reader()); // in its last line
            print_message("{}: {}", for_terminal(path),
                          verdict.substr(verdict.rfind('\n', verdict.size() - 2) + 1));
        }
        return boot;
    }

    /// The boots of a profile.
    std::vector<diff::Boot> read_profile(const std::string& path) {
        std::vector<diff::Boot> boots = diff::read_profile(path, sites, pairing_);
        for (const diff::Boot& boot : boots) {
            if (boot.incomplete) {
                incomplete_.push_back(boot.name);
            }
        }
        return boots;
    }
    std::string profile_of(std::span<const diff::Boot> boots) const {
        return diff::profile_text(boots, sites, pairing_);
    }

    /// The traces that are.
    const std::vector<std::string>& incomplete() const { return incomplete_; }

    /// Throws Error (bad_input) if no trace has a device that --dev or --pair names.
    void check_devices() const {
        if (!unpaired_.empty()) {
            throw bad_input("--pair {}", unpaired_);
        }
        if (!unknown_.empty()) {
            const std::string& line = *unknown_.begin();
            throw bad_input("--dev: {}", line);
        }
    }

    diff::Sites sites;

private:
    // Devices of --dev that no trace had so far.
    void learn_unknown(const std::vector<std::string>& lines) {
        const std::set<std::string> here(lines.begin(), lines.end());
        if (!std::exchange(asked_, true)) {
            unknown_ = here;
        }
        std::erase_if(unknown_, [&here](const auto& line) { return !here.contains(line); });
    }

    // The devices of --dev by the names of a trace.
    std::string filter_of(const diff::Renamed& renamed) const {
        std::string filter;
        const auto add = [&filter](std::string_view name) {
            filter += fmt::format("{}dev==\"{}\"", filter.empty() ? "" : " || ", name);
        };
        for (const std::string& device : options_.devices) {
            if (!renamed.contains(device)) {
                add(device);
            }
            for (const auto& [own, name] : renamed) {
                if (name == device) {
                    add(own);
                }
            }
        }
        return filter;
    }

    // Both ways, so that two devices of one trace can be compared.
    void pair_by_hand(diff::Renamed& renamed) {
        const diff::Renamed own = renamed;
        for (const std::string& pair : options_.pairs) {
            const std::size_t equals = pair.find('=');
            for (const std::string& name : {pair.substr(0, equals), pair.substr(equals + 1)}) {
                const auto known =
                    std::ranges::find(pairing_.known(), name, &diff::Pairing::Device::name);
                if (known == pairing_.known().end() && !own.contains(name)) {
                    unpaired_ = fmt::format("{}: no trace has a device '{}'", pair, name);
                }
            }
            renamed[pair.substr(equals + 1)] = pair.substr(0, equals);
            renamed.try_emplace(pair.substr(0, equals), pair.substr(equals + 1));
        }
    }

    const Options& options_;
    diff::Pairing pairing_;
    std::vector<std::string> incomplete_;
    bool asked_ = false;            ///< which devices a trace has
    std::set<std::string> unknown_; ///< a line for each
    std::string unpaired_;          ///< why a --pair is none
};

diff::Heading heading_of(std::span<const diff::Boot> boots, std::vector<std::string> notes) {
    diff::Heading heading;
    for (const diff::Boot& boot : boots.first(boots.size() - 1)) {
        heading.a.push_back(boot.name);
    }
    heading.b = boots.back().name;
    heading.notes = std::move(notes);
    return heading;
}

// Nothing follows from a trace that lacks something.
std::string verdict_of(std::span<const diff::Finding> findings,
                       const std::vector<std::string>& incomplete) {
    return incomplete.empty()
               ? diff::verdict(findings)
               : fmt::format("not comparable: {} {} incomplete; of what is there: {}",
                             for_terminal(fmt::format("{}", fmt::join(incomplete, ", "))),
                             incomplete.size() == 1 ? "is" : "are", diff::verdict(findings));
}

void print(const Options& options, std::span<const diff::Finding> findings,
           const diff::Heading& heading) {
    view::Output out(options.view.output);
    std::optional<view::Pager> pager(std::in_place,
                                     options.view.format != "html" && pages(options.view, out));
    if (options.view.format == "html") {
        fmt::print(out.file(), "{}", diff::html(findings, heading));
    } else if (!findings.empty()) {
        const table::Table table = diff::table_of(findings);
        print_tables(options.view, std::span(&table, 1), out);
    }
    if (options.view.format == "text") {
        for (const std::string& note : heading.notes) {
            fmt::print(out.file(), "{}\n", note);
        }
        fmt::print(out.file(), "{}\n", heading.verdict);
    }
    out.close();
}

Status compare(const Options& options, BootReader& reader, std::vector<diff::Boot>& boots) {
    std::vector<const diff::Boot*> all;
    for (const diff::Boot& boot : boots) {
        all.push_back(&boot);
    }
    const diff::Alike alike = diff::alike(reader.sites, all);
    const std::vector<diff::Finding> findings =
        diff::findings(alike, diff::changes(alike), reader.sites,
                       options.all ? diff::Stops::apart : diff::Stops::together);
    diff::Heading heading = heading_of(boots, diff::notes(alike, boots));
    heading.verdict = verdict_of(findings, reader.incomplete());
    print(options, findings, heading);
    const bool sure = diff::count_sure(findings) > 0;
    return !reader.incomplete().empty() ? Status::untestable : sure ? Status::failed : Status::fine;
}

// What was there stays until the new one is whole.
void write_profile(const std::string& path, const std::string& text) {
    exporting::Output file(path);
    append(file.fd(), std::as_bytes(std::span(text)), file.name().c_str());
    file.finish();
}

// For `git bisect run` an input that cannot be read, or an output that cannot be written, says
// nothing of the commit: `failure` of `call` becomes `untestable`.
template <typename Call>
auto untestable_if(Status failure, const Call& call) {
    try {
        return call();
    } catch (const Error& error) {
        throw Error(error.status() == failure ? Status::untestable : error.status(), error.what());
    }
}

// What reads an input.
template <typename Read>
auto readable(const Read& read) {
    return untestable_if(Status::bad_input, read);
}

Status run(const Options& options, const Task& task) {
    BootReader reader(options);
    std::vector<diff::Boot> boots;
    if (task.reads_profile) {
        boots = readable([&] { return reader.read_profile(options.profile); });
    }
    for (const std::string& path : task.good) {
        boots.push_back(readable([&] { return reader.read(path); }));
    }
    if (task.other.empty()) {
        reader.check_devices();
    }
    if (task.writes_profile) {
        write_profile(options.profile, reader.profile_of(boots));
    }
    if (task.other.empty()) {
        return !reader.incomplete().empty() ? Status::untestable : Status::fine;
    }
    boots.push_back(readable([&] { return reader.read(task.other, true); }));
    reader.check_devices();
    if (std::ranges::all_of(boots, [](const auto& boot) { return boot.accesses == 0; })) {
        throw Error(Status::untestable, "there is nothing to compare: no trace has an access that "
                                        "--from, --to and --dev select");
    }
    return compare(options, reader, boots);
}

Status diff_of(const Options& options) {
    const Task task = task_of(options);
    check_outputs(options, task);
    return untestable_if(Status::failed, [&] { return run(options, task); });
}

void add_files(CLI::App& command, const char* name, std::vector<std::string>& to,
               const char* help) {
    command.add_option(name, to, help)
        ->check(not_empty())
        ->type_name("FILE")
        ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
}

Action add(CLI::App& command, const std::string&) {
    const auto options = std::make_shared<Options>();
    ViewOptions& view = options->view;
    command.option_defaults()->multi_option_policy(CLI::MultiOptionPolicy::TakeLast);
    add_files(command, "file", options->files, "A and B, or B; - for standard input");
    add_files(command, "--good", options->good, "Good boots, up to -- or the next option");
    add_file(command, "--profile", options->profile,
             "With --good: save the learned profile; without: use it instead of good boots");
    command.add_flag(
        "--all", options->all,
        "If a driver stops, list each difference that follows, not one finding for all");
    add_values(command, "--dev", options->devices,
               "Compare only these devices; separate several with commas", ',')
        ->type_name("DEVICE");
    add_values(command, "--pair", options->pairs,
               "Device A of the good boots is device B of the last one: A=B; may be repeated")
        ->type_name("A=B");
    add_range_options(command, view);
    add_one_file_option(command, view);
    add_file(command, "-o,--output", view.output, "Output file (default: standard output)");
    add_wide_option(command, view);
    command.add_option("--format", view.format, "Output format (default text)")
        ->check(one_of({"text", "jsonl", "csv", "html"}));
    add_name_options(command, view.trace);
    add_code_option(command, view);
    add_pager_option(command, view);
    command.footer(footer);
    return [options] { return diff_of(*options); };
}

} // namespace

const Command row{"diff", "Compare boots: what one did that the others did not", add};

} // namespace mmioscope::cli::diff_command
