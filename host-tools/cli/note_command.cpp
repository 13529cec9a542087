#include "cli/commands.hpp"
#include "cli/option_types.hpp"
#include "cli/view_options.hpp"
#include "reading/trace.hpp"
#include "records/notes.hpp"
#include "system/error.hpp"

#include <memory>
#include <optional>

namespace mmioscope::cli::note_command {

namespace {

struct Options {
    ViewOptions view;
    std::optional<std::uint64_t> number;
    std::optional<std::string> text;
    std::string import;
};

constexpr char footer[] = R"(
Notes what an event is about, in FILE.notes beside the trace: print shows it, exports have a column for it, and so has the
page. Without a number it lists the notes. An empty text removes one. Of two notes of an event, that of --import stays.

Examples:
  mmioscope print --number -F 'reg==SYS_LED && w' boot.mmio
  mmioscope note boot.mmio 38087 "LED on"
  mmioscope note --import ~/Downloads/boot.mmio.notes boot.mmio

Exit status: 0 fine, 2 the trace or the notes cannot be read or written, or there is no such event.)";

Status note(const Options& options) {
    const std::string& trace = options.view.file;
    if (trace == "-") {
        throw bad_input("notes are beside a file, and standard input has none");
    }
    if (options.number && (!options.text || !options.import.empty())) {
        throw bad_input("event {} needs a text; an empty one (\"\") removes its note, and --import "
                        "takes no number",
                        *options.number);
    }
    trace::Notes notes =
        options.import.empty() ? trace::Notes() : trace::read_notes(options.import);
    if (options.number) {
        notes[*options.number] = *options.text;
    }
    reading::TraceOptions last; // of the events that get notes
    last.path = trace;
    const std::uint64_t number = notes.empty() ? 1 : notes.rbegin()->first;
    last.numbers = {number, number};
    if (reading::Trace(last).next() == nullptr && !notes.empty()) {
        throw bad_input("{}: there is no event {}", trace, number);
    }
    if (options.number || !options.import.empty()) {
        trace::change_notes(trace, notes);
        return Status::fine;
    }
    table::Table table{{{"event", "event", table::Look::number, 8}, {"note", "note"}}, {}};
    for (const auto& [number, text] : trace::notes_of(trace)) {
        table.rows.push_back({number, text});
    }
    view::Output out(options.view.output);
    print_tables(options.view, std::span(&table, 1), out);
    out.close();
    return Status::fine;
}

Action add(CLI::App& command, const std::string&) {
    const auto options = std::make_shared<Options>();
    add_file(command, "file", options->view.file, "The trace file");
    command.get_option("file")->required();
    command.add_option("number", options->number, "The number of an event, as print --number says")
        ->check(count_from(1));
    command.add_option("text", options->text, "The note; empty: removes it");
    add_file(command, "--import", options->import, "Adds the notes of this file");
    add_format_option(command, options->view, "one note per line");
    add_wide_option(command, options->view);
    command.footer(footer);
    return [options] { return note(*options); };
}

} // namespace

const Command row{"note", "Note what an event is about, or list the notes", add};

} // namespace mmioscope::cli::note_command
