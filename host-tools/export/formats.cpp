#include "export/formats.hpp"

#include "export/csv.hpp"
#include "export/ctf.hpp"
#include "export/folded.hpp"
#include "export/jsonl.hpp"
#include "export/mmiotrace.hpp"
#include "export/output.hpp"
#include "export/perfetto.hpp"
#include "export/sink.hpp"
#include "export/sqlite.hpp"
#include "system/error.hpp"

#include <algorithm>

namespace mmioscope::exporting {

namespace {

/// A format that is a stream of bytes.
template <typename Format>
class Bytes : public Destination {
public:
    explicit Bytes(const std::string& path)
        : output_(path), sink_(output_.fd(), output_.name()), exporter_(sink_) {}

    Exporter& exporter() override { return exporter_; }
    bool terminal() const override { return output_.terminal(); }
    void flush() override { sink_.flush(); }
    void finish() override { output_.finish(); }

private:
    Output output_;
    Sink sink_;
    Format exporter_;
};

/// A format that is a file and needs its path.
template <typename Format>
class File : public Destination {
public:
    explicit File(const std::string& path)
        : replaced_(checked(path)), unfinished_(replaced_.beside()),
          exporter_(replaced_.beside(), path) {}

    Exporter& exporter() override { return exporter_; }
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
    Format exporter_;
};

/// A format that is a folder.
class CtfFolder : public Destination {
public:
    explicit CtfFolder(const std::string& path)
        : path_(checked(path)), unfinished_(name_beside(path_.string())),
          exporter_(unfinished_.path(), path) {}

    Exporter& exporter() override { return exporter_; }
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
    Ctf exporter_;
};

template <typename Kind>
std::unique_ptr<Destination> open(const std::string& path) {
    return std::make_unique<Kind>(path);
}

constexpr Format rows[] = {
    {"jsonl", "JSON, one object per event and line", open<Bytes<JsonLines>>},
    {"csv", "comma-separated values, one event per line", open<Bytes<Csv>>},
    {"csv-number", "csv with all numbers in decimal, for spreadsheets and data frames",
     open<Bytes<CsvDecimal>>},
    {"sqlite", "a database with tables and ready-made views", open<File<Sqlite>>},
    {"ctf", "a folder for babeltrace2 or Trace Compass", open<CtfFolder>},
    {"perfetto", "for ui.perfetto.dev", open<Bytes<Perfetto>>},
    {"mmiotrace", "the text format of Linux mmiotrace", open<Bytes<Mmiotrace>>},
    {"folded", "counts of stacks, for flame graphs (mmioscope run --stack)", open<Bytes<Folded>>},
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
