#include "lib/part_files.hpp"

#include "lib/error.hpp"
#include "lib/open_source.hpp"
#include "lib/open_trace.hpp"
#include "lib/part_path.hpp"

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <optional>

namespace mmioscope::trace {

namespace {

// The recorder makes the next file right after it has ended one.
constexpr unsigned most_waits = 50; ///< of 100 ms

/// What the recorder called the reader's first file, from 1 on; 0: not known.
unsigned number_of(const TraceReader& reader) {
    const auto found = reader.text().find("part");
    unsigned number = 0;
    if (found != reader.text().end()) {
        const std::string& text = found->second;
        std::from_chars(text.data(), text.data() + text.size(), number);
    }
    return number;
}

std::unique_ptr<TraceReader> head_of(ByteSource& source, const std::string& path) {
    return read_trace(source, path, [](const std::string&) {});
}

class PartFiles {
public:
    PartFiles(std::string path, std::function<bool()> wait)
        : path_(std::move(path)), wait_(std::move(wait)) {}

    NextPart operator()(const TraceReader& reader) {
        const unsigned number = number_of(reader);
        const std::optional<std::string> path =
            number == 0 ? std::nullopt : next_part_path(path_, number + reader.parts() - 1);
        if (!path) {
            return {"", nullptr, path_ + " is not called as it was recorded"};
        }
        path_ = *path;
        std::string problem = why_not(number + reader.parts(), reader.boot_id());
        for (unsigned i = 0; !problem.empty() && wait_ && i < most_waits; ++i) {
            if (!wait_()) {
                return {};
            }
            problem = why_not(number + reader.parts(), reader.boot_id());
        }
        return {path_, problem.empty() ? open() : nullptr, problem};
    }

private:
    std::unique_ptr<ByteSource> open() const {
        return wait_ ? open_growing_source(path_, wait_) : open_source(path_);
    }

    // Another recording may have left a file of that name.
    std::string why_not(unsigned number, std::span<const std::uint8_t> boot_id) const {
        try {
            const std::unique_ptr<ByteSource> source = open_source(path_);
            const std::unique_ptr<TraceReader> reader = head_of(*source, path_);
            const bool same =
                number_of(*reader) == number && std::ranges::equal(reader->boot_id(), boot_id);
            return same ? "" : path_ + ": is of another recording";
        } catch (const Error& error) {
            return error.what();
        }
    }

    std::string path_; ///< of the file read last
    std::function<bool()> wait_;
};

} // namespace

void read_all_parts(TraceReader& reader, const std::string& path, std::function<bool()> wait) {
    if (std::filesystem::is_regular_file(path) && !reader.text().contains(exported_key)) {
        reader.go_on_with(PartFiles(path, std::move(wait)));
    }
}

std::vector<std::string> part_paths(const std::string& path) {
    std::vector<std::string> paths;
    try {
        const std::unique_ptr<ByteSource> source = open_source(path);
        unsigned number = number_of(*head_of(*source, path));
        std::optional<std::string> next = number == 0 ? std::nullopt : next_part_path(path, number);
        while (next && std::filesystem::exists(*next)) {
            paths.push_back(*next);
            next = next_part_path(*next, ++number);
        }
    } catch (const Error&) { // who reads it tells of it
    }
    return paths;
}

} // namespace mmioscope::trace
