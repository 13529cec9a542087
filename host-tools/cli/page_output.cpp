#include "cli/page_output.hpp"

#include "export/output.hpp"
#include "export/part.hpp"
#include "file/packing.hpp"
#include "page/content.hpp"
#include "records/notes.hpp"
#include "system/message.hpp"

#include <filesystem>
#include <optional>
#include <span>

namespace mmioscope::cli {

namespace {

constexpr std::uint64_t many = 10'000'000; ///< records of a page

/// A trace of its own: one packed file with what the options choose. It is gone with this object.
class ChosenPart {
public:
    ChosenPart(const ViewOptions& options, reading::TraceOptions chosen, const std::string& page)
        : file_(name_beside(page)) {
        exporting::Part part({chosen_words(options), reading::selects(chosen), chosen.no_pc});
        chosen.sections = [&part](const trace::Section& section) { part.add_section(section); };
        reading::Trace trace(chosen);
        const FileDescriptor output = create_output(path());
        part.begin(trace, output.get(), path());
        reading::drive(trace, {&part}, drive_options(options, "chosen"));
        if (trace.reader().end()) { // one that is cut off is shown as it is
            trace::pack_file(path(), output.get(),
                             [](std::uint64_t, std::uint64_t) { return true; });
        }
    }
    std::string path() const { return file_.path().string(); }

private:
    exporting::Unfinished file_;
};

} // namespace

void add_page_options(CLI::App& command, ViewOptions& options) {
    add_input_options(command, options);
    add_one_file_option(command, options);
    add_event_options(command, options);
    add_range_options(command, options);
    add_code_option(command, options);
    add_name_options(command, options.trace);
    add_dmesg_options(command, options, "Show the kernel's log in a lane");
}

Status write_page(const ViewOptions& options, const std::string& path, std::string_view command) {
    const reading::TraceOptions chosen = file_options(options, command);
    const std::optional<view::DmesgLines> log = dmesg_lines(options, chosen);
    exporting::Output out(path);
    if (out.terminal()) {
        throw bad_input("a page is not for a terminal: use -o FILE");
    }
    const bool selects = reading::selects(chosen) || chosen.no_pc;
    reading::TraceOptions whole = chosen;
    std::optional<ChosenPart> part;
    if (selects || !page::is_packed_file(chosen.path)) {
        part.emplace(options, chosen, out.name());
        whole = {};
        whole.symbols = chosen.symbols;
        whole.registers = chosen.registers;
        whole.tree = chosen.tree;
        whole.path = part->path();
    }
    const auto write = [&out](std::string_view text) {
        append(out.fd(), std::as_bytes(std::span(text)), out.name().c_str());
    };
    const page::Verdict verdict = page::write_page(
        {std::filesystem::path(chosen.path).filename(), whole, drive_options(options, "shown"),
         selects, log ? log->lines() : std::vector<analysis::DmesgLine>(),
         selects ? trace::Notes() : trace::notes_of(chosen.path)},
        write);
    out.finish();
    print_message("{}", verdict.text);
    if (verdict.records > many) {
        print_message(
            "{} million records make a browser slow: choose a part by --from, --to or -F\n",
            verdict.records / 1'000'000);
    }
    return verdict.status;
}

RecordOutput::RecordOutput(const ViewOptions& options, const trace::TraceReader& reader)
    : destination_(exporting::format_of(options.format)
                       .open(options.output.empty() ? "-" : options.output)) {
    destination_->exporter().begin(reader);
}

void RecordOutput::finish() {
    destination_->exporter().finish();
    destination_->finish();
}

} // namespace mmioscope::cli
