#include "file/part_files.hpp"

#include "system/error.hpp"
#include "system/open_source.hpp"
#include "system/replaced_file.hpp"

#include <poll.h>

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <optional>

namespace mmioscope::trace {

namespace {

// The recorder creates the next file right after it has ended one.
constexpr unsigned most_waits = 20;
constexpr int wait_ms = 100;
constexpr unsigned most_files = 1'000'000'000;

// Opening a FIFO would wait for its writer.
bool is_file(const std::string& path) {
    std::error_code ignored;
    return std::filesystem::is_regular_file(path, ignored);
}

/// The number of the reader's first file, from 1, as the recorder counted; 0: unknown.
unsigned number_of(const TraceReader& reader) {
    const auto found = reader.text().find("part");
    unsigned number = 0;
    if (found != reader.text().end()) {
        const std::string& text = found->second;
        std::from_chars(text.data(), text.data() + text.size(), number);
    }
    return number <= most_files ? number : 0;
}

// Compares what both say; damage is reported when they are read.
bool same_machine(const TraceReader& left, const TraceReader& right) {
    const bool known = left.info() && right.info();
    const bool same = !known || (std::ranges::equal(left.boot_id(), right.boot_id()) &&
                                 left.info()->cpu_count == right.info()->cpu_count &&
                                 left.info()->counter_frequency == right.info()->counter_frequency);
    return same && (left.regions().empty() || right.regions().empty() ||
                    tree::same_regions(left.regions(), right.regions()));
}

// The names after its own, and after the target of its link: also for /dev/stdin.
std::vector<std::string> names_behind(const std::string& path, unsigned number) {
    std::vector<std::string> names = next_part_paths(path, number);
    std::error_code ignored;
    const std::filesystem::path target = std::filesystem::canonical(path, ignored);
    for (std::string& name : next_part_paths(target.string(), number)) {
        names.push_back(std::move(name));
    }
    return names;
}

std::optional<std::string> first_file(const std::vector<std::string>& names) {
    const auto found = std::ranges::find_if(names, is_file);
    return found == names.end() ? std::nullopt : std::optional(*found);
}

// Whoever reads on reports damage.
std::unique_ptr<TraceReader> head_of(ByteSource& source, const std::string& path) {
    return read_trace(source, path, [](const std::string&) {});
}

// Why the file `path` is not the `number`th of the recording in `reader`; empty: it is. Another
// recording may have left a file with that name.
std::string why_not(const std::string& path, unsigned number, const TraceReader& reader) {
    try {
        const std::unique_ptr<ByteSource> source = open_source(path);
        const std::unique_ptr<TraceReader> next = head_of(*source, path);
        if (number_of(*next) == 0) {
            return path + ": the file has no number in a recording";
        }
        const bool same = number_of(*next) == number && same_machine(reader, *next);
        return same ? "" : path + ": the file belongs to another recording";
    } catch (const Error& error) {
        return error.what();
    }
}

class PartFiles {
public:
    PartFiles(std::string path, std::function<bool()> wait)
        : path_(std::move(path)), wait_(std::move(wait)) {}

    NextPart operator()(const TraceReader& reader) {
        if (wait_ && !reader.end()) {
            return {}; // nobody wants more
        }
        const unsigned first = number_of(reader);
        if (first == 0) {
            return {"", nullptr, path_ + " has no number in its recording"};
        }
        NextPart next = look(first + reader.parts(), reader);
        for (unsigned i = 0; !next.source && wait_ && i < most_waits; ++i) {
            ::poll(nullptr, 0, wait_ms);
            if (!wait_()) {
                return {};
            }
            next = look(first + reader.parts(), reader);
        }
        path_ = next.source ? next.path : path_;
        return next;
    }

private:
    NextPart look(unsigned number, const TraceReader& reader) const {
        const std::vector<std::string> names = names_behind(path_, number - 1);
        const std::optional<std::string> path = first_file(names);
        if (!path) {
            return {"", nullptr,
                    names.empty() ? path_ + " was renamed after the recording"
                                  : "there is no file " + names.front()};
        }
        const std::string problem = why_not(*path, number, reader);
        return {*path, problem.empty() ? open(*path) : nullptr, problem};
    }

    std::unique_ptr<ByteSource> open(const std::string& path) const {
        return wait_ ? open_growing_source(path, wait_) : open_source(path);
    }

    std::string path_; ///< of the last file read
    std::function<bool()> wait_;
};

} // namespace

void read_all_parts(TraceReader& reader, const std::string& path, std::function<bool()> wait) {
    if (is_file(path) && !reader.text().contains(exported_key)) {
        reader.go_on_with(PartFiles(path, std::move(wait)));
    }
}

std::vector<std::string> part_paths(const std::string& path) {
    std::vector<std::string> paths;
    if (!is_file(path)) {
        return paths;
    }
    try {
        const std::unique_ptr<ByteSource> source = open_source(path);
        const std::unique_ptr<TraceReader> reader = head_of(*source, path);
        unsigned number = number_of(*reader);
        std::optional<std::string> next = number == 0 ? std::nullopt : std::optional(path);
        while (next) {
            next = first_file(names_behind(*next, number++));
            if (next && why_not(*next, number, *reader).empty()) {
                paths.push_back(*next);
            } else {
                next.reset();
            }
        }
    } catch (const Error&) { // its reader reports it
    }
    return paths;
}

std::string missing_part_text(const TraceReader& reader) {
    const std::string& why = reader.missing_part();
    return why.empty() ? "" : "the next file cannot be read: " + why;
}

} // namespace mmioscope::trace
