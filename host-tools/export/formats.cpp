#include "export/formats.hpp"

#include "analysis/count.hpp"
#include "export/output.hpp"
#include "export/row_text.hpp"
#include "records/record_text.hpp"
#include "records/verdict.hpp"
#include "system/capped_map.hpp"
#include "system/error.hpp"
#include "system/file_descriptor.hpp"

#include <algorithm>
#include <cstdint>
#include <cstring>

namespace mmioscope::exporting {

void Sink::flush() {
    append(fd_, std::as_bytes(std::span(text_.data(), text_.size())), name_.c_str());
    text_.clear();
}

// A text is what every format has a place for.
void Exporter::add_derived(const DerivedEvent& derived) {
    std::string words = fmt::format("{} events={} last_event={} last_ns={}", derived.kind,
                                    derived.count, derived.last_number, derived.last_nanoseconds);
    for (const DerivedEvent::Field& field : derived.fields) {
        const auto* const number = std::get_if<std::uint64_t>(&field.value);
        words += number != nullptr
                     ? fmt::format(" {}={:#x}", field.name, *number)
                     : fmt::format(" {}={}", field.name, std::get<std::string>(field.value));
    }
    add(derived.with_text(words));
}

namespace {

/// Comma-separated values (RFC 4180, lines end with LF): the names of columns(), then one event per
/// line.
class Csv : public Rows {
public:
    explicit Csv(Sink& sink) : Rows(sink, RowForm::csv) {}

    void begin(const trace::TraceReader& reader) override {
        Rows::begin(reader);
        sink_.put(csv_titles() + "\n");
    }
};

/// CSV with all numbers in decimal, as spreadsheets and data frames read them.
class CsvDecimal : public Exporter {
public:
    explicit CsvDecimal(Sink& sink) : sink_(sink) {}

    void begin(const trace::TraceReader& reader) override {
        cells_ = Cells(reader);
        sink_.put(csv_titles() + "\n");
    }

    void add(const Event& event) override {
        for (std::size_t i = 0; i < columns.size(); ++i) {
            sink_.put(i == 0 ? "" : ",");
            const Cell cell = cells_.of(i, event);
            if (const Hex* const number = std::get_if<Hex>(&cell)) {
                table::append_csv(sink_.text(), number->value);
            } else {
                table::append_csv(sink_.text(), cell);
            }
        }
        sink_.put("\n");
        sink_.settle();
    }

    void finish() override { sink_.flush(); }

private:
    Sink& sink_;
    Cells cells_;
};

using table::append_json;
using Text = fmt::memory_buffer;

void append_devices(Text& to, const trace::TraceReader& reader) {
    to.append(std::string_view(",\"devices\":["));
    for (std::size_t i = 0; i < reader.regions().size(); ++i) {
        const abi::RegionEntry& region = reader.regions()[i];
        to.append(std::string_view(i == 0 ? "{" : ",{"));
        append_json(to, "name", reader.names()[static_cast<std::uint16_t>(i)]);
        append_json(to, "path", tree::region_path(region));
        append_json(to, "base", Hex{region.base});
        append_json(to, "size", Hex{region.size});
        to.push_back('}');
    }
    to.push_back(']');
}

/// JSON, one object per line: the trace, its events, its end.
class JsonLines : public Rows {
public:
    explicit JsonLines(Sink& sink) : Rows(sink, RowForm::json) {}

    void begin(const trace::TraceReader& reader) override {
        Rows::begin(reader);
        reader_ = &reader;
        Text& to = sink_.text();
        to.push_back('{');
        append_json(to, "type", std::string_view("trace"));
        append_json(to, "format", std::uint64_t{1});
        if (reader.info()) {
            const abi::Info& info = *reader.info();
            append_json(to, "board",
                        std::string_view(info.board, ::strnlen(info.board, sizeof info.board)));
            append_json(to, "ticks_per_second", std::uint64_t{info.counter_frequency});
            if (reader.knows("cpus")) {
                append_json(to, "cpus", std::uint64_t{info.cpu_count});
            }
        }
        if (reader.policy()) {
            append_json(to, "policy", trace::policy_text(*reader.policy()));
        }
        for (const auto& [key, value] : reader.text()) {
            append_json(to, "text:" + key, std::string_view(value));
        }
        append_devices(to, reader);
        sink_.put("}\n");
    }
    void finish() override {
        Text& to = sink_.text();
        to.push_back('{');
        append_json(to, "type", std::string_view("end"));
        if (reader_->end()) {
            append_json(to, "records", reader_->end()->records);
            append_json(to, "lost", reader_->lost().events());
            if (const auto others = trace::others_cell(reader_->lost()); others.index() != 0) {
                append_json(to, "lost_others", others);
            }
            if (reader_->ending()) {
                append_json(to, "ending", trace::ending_text(*reader_->ending()));
            }
        } else {
            append_json(to, "ending", std::string_view("cut off"));
        }
        sink_.put("}\n");
        Rows::finish();
    }

private:
    const trace::TraceReader* reader_ = nullptr;
};

/// Folded stacks: one line for each stack with the number of accesses, as flame graphs are made of.
class Folded : public Exporter {
public:
    explicit Folded(Sink& sink) : sink_(sink) {}

    void begin(const trace::TraceReader&) override {}

    // The task is the outermost frame: what it does in an interrupt is not told apart.
    void add(const Event& event) override {
        const bool access = event.record.type == abi::RecordType::access;
        const std::string stack = access || event.record.type == abi::RecordType::call
                                      ? analysis::folded_stack(event)
                                      : std::string();
        if (stack.empty()) {
            without_ += access ? 1 : 0;
            return;
        }
        const Task* const task = event.task();
        ++counts_.of((task != nullptr ? task->comm + ';' : "") + stack);
    }
    void finish() override {
        for (const auto& [stack, count] : counts_.held()) {
            fmt::format_to(std::back_inserter(sink_.text()), "{} {}\n", stack, count);
            sink_.settle();
        }
        sink_.flush();
    }

    std::vector<std::string> left_out() const override {
        std::vector<std::string> lines;
        if (without_ > 0) {
            lines.push_back(fmt::format("{} accesses have no stack, and are left out", without_));
        }
        add_left_out(lines, counts_.rest(), "accesses of stacks", most);
        return lines;
    }

private:
    static constexpr std::size_t most = 1 << 16; ///< different ones

    Sink& sink_;
    CappedNames<std::uint64_t> counts_{most};
    std::uint64_t without_ = 0; ///< accesses that have no stack
};

/// The exporter of a format of bytes.
using Make = std::unique_ptr<Exporter> (*)(Sink& sink);
template <typename Format>
std::unique_ptr<Exporter> make(Sink& sink) {
    return std::make_unique<Format>(sink);
}

/// A format that is a stream of bytes.
class Bytes : public Destination {
public:
    Bytes(const std::string& path, Make make)
        : output_(path), sink_(output_.fd(), output_.name()), exporter_(make(sink_)) {}

    Exporter& exporter() override { return *exporter_; }
    bool terminal() const override { return output_.terminal(); }
    void flush() override { sink_.flush(); }
    void finish() override { output_.finish(); }

private:
    Output output_;
    Sink sink_;
    std::unique_ptr<Exporter> exporter_;
};
template <Make make>
std::unique_ptr<Destination> open_bytes(const std::string& path) {
    return std::make_unique<Bytes>(path, make);
}

/// SQLite, which is a file and needs its path.
class SqliteFile : public Destination {
public:
    explicit SqliteFile(const std::string& path)
        : replaced_(checked(path)), unfinished_(replaced_.beside()),
          exporter_(make_sqlite(replaced_.beside(), path)) {}

    Exporter& exporter() override { return *exporter_; }
    void finish() override { replaced_.commit(); }

private:
    static const std::string& checked(const std::string& path) {
        if (path == "-") {
            throw bad_input("this format cannot go to standard output: use -o FILE");
        }
        if (!is_replaceable(path)) {
            throw bad_input("cannot write {}: it is not a regular file of yours", path);
        }
        return path;
    }

    ReplacedFile replaced_;
    Unfinished unfinished_;
    std::unique_ptr<Exporter> exporter_;
};

/// A format that is a folder.
class CtfFolder : public Destination {
public:
    explicit CtfFolder(const std::string& path)
        : path_(checked(path)), unfinished_(name_beside(path_.string())),
          exporter_(make_ctf(unfinished_.path(), path)) {}

    Exporter& exporter() override { return *exporter_; }
    void finish() override { unfinished_.keep_as(path_); }

private:
    static std::filesystem::path checked(const std::string& path) {
        if (path == "-") {
            throw bad_input("this format is a folder: use -o FOLDER");
        }
        std::filesystem::path final = real_path(path);
        if (!final.has_filename()) { // "folder/"
            final = final.parent_path();
        }
        std::error_code ignored;
        const bool folder = std::filesystem::is_directory(final, ignored);
        if (std::filesystem::exists(final, ignored) && !(folder && is_ctf_trace(final))) {
            throw bad_input("cannot write {}: it exists, and is not a CTF trace", path);
        }
        return final;
    }

    std::filesystem::path path_;
    Unfinished unfinished_;
    std::unique_ptr<Exporter> exporter_;
};

template <typename Kind>
std::unique_ptr<Destination> open(const std::string& path) {
    return std::make_unique<Kind>(path);
}

constexpr Format rows[] = {
    {"jsonl", "JSON, one object per event and line", open_bytes<make<JsonLines>>},
    {"csv", "comma-separated values, one event per line", open_bytes<make<Csv>>},
    {"csv-number", "csv with all numbers in decimal, for spreadsheets and data frames",
     open_bytes<make<CsvDecimal>>},
    {"sqlite", "a database with tables and ready-made views", open<SqliteFile>},
    {"ctf", "a folder for babeltrace2 or Trace Compass", open<CtfFolder>},
    {"perfetto", "for ui.perfetto.dev", open_bytes<make_perfetto>},
    {"mmiotrace", "the text format of Linux mmiotrace", open_bytes<make_mmiotrace>},
    {"folded", "counts of stacks, for flame graphs (mmioscope run --stack)",
     open_bytes<make<Folded>>},
    {"mmio", "a trace file with the selected events", nullptr},
};

} // namespace

std::span<const Format> formats() {
    return rows;
}

const Format& format_of(std::string_view name) {
    const Format* const found = std::ranges::find(rows, name, &Format::name);
    if (found == std::end(rows)) {
        throw bad_input("no format '{}'", name);
    }
    return *found;
}

} // namespace mmioscope::exporting
