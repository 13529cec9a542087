#include "export/formats.hpp"

#include "export/csv.hpp"
#include "export/ctf.hpp"
#include "export/jsonl.hpp"
#include "export/mmiotrace.hpp"
#include "export/output.hpp"
#include "export/perfetto.hpp"
#include "export/sink.hpp"
#include "export/sqlite.hpp"
#include "lib/error.hpp"

namespace mmioscope::exporting {

namespace {

/// A format that is a sequence of bytes.
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

/// A format that is a file, and wants its path.
template <typename Format>
class File : public Destination {
public:
    explicit File(const std::string& path)
        : path_(checked(path)), unfinished_(name_beside(path_)),
          exporter_(unfinished_.path().string(), path) {}

    Exporter& exporter() override { return exporter_; }
    void finish() override { unfinished_.keep_as(path_); }

private:
    static std::filesystem::path checked(const std::string& path) {
        if (path == "-") {
            throw bad_input("this format cannot go to standard output: say -o FILE");
        }
        const std::filesystem::path final = final_path(path);
        std::error_code ignored;
        if (std::filesystem::exists(final, ignored) &&
            !std::filesystem::is_regular_file(final, ignored)) {
            throw bad_input("cannot write {}: it is no file", path);
        }
        return final;
    }

    std::filesystem::path path_;
    Unfinished unfinished_;
    Format exporter_;
};

/// A format that is a folder.
class CtfFolder : public Destination {
public:
    explicit CtfFolder(const std::string& path)
        : path_(checked(path)), unfinished_(name_beside(path_)),
          exporter_(unfinished_.path(), path) {}

    Exporter& exporter() override { return exporter_; }
    void finish() override { unfinished_.keep_as(path_); }

private:
    static std::filesystem::path checked(const std::string& path) {
        if (path == "-") {
            throw bad_input("this format is a folder: say -o FOLDER");
        }
        std::filesystem::path final = final_path(path);
        if (!final.has_filename()) { // "folder/"
            final = final.parent_path();
        }
        std::error_code ignored;
        const bool folder = std::filesystem::is_directory(final, ignored);
        if (std::filesystem::exists(final, ignored) && !(folder && is_ctf_trace(final))) {
            throw bad_input("cannot write {}: something else than a CTF trace is there", path);
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

struct Format {
    std::string_view name;
    std::unique_ptr<Destination> (*open)(const std::string& path);
};

constexpr Format formats[] = {
    {"jsonl", open<Bytes<JsonLines>>},   {"csv", open<Bytes<Csv>>},
    {"sqlite", open<File<Sqlite>>},      {"ctf", open<CtfFolder>},
    {"perfetto", open<Bytes<Perfetto>>}, {"mmiotrace", open<Bytes<Mmiotrace>>},
};

} // namespace

std::vector<std::string> format_names() {
    std::vector<std::string> names;
    for (const Format& format : formats) {
        names.emplace_back(format.name);
    }
    return names;
}

std::unique_ptr<Destination> open_destination(std::string_view format, const std::string& path) {
    for (const Format& known : formats) {
        if (known.name == format) {
            return known.open(path);
        }
    }
    throw bad_input("no format '{}'", format);
}

} // namespace mmioscope::exporting
