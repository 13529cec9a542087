#include "reading/checkpoints.hpp"

#include "reading/trace.hpp"
#include "system/error.hpp"

#include <algorithm>
#include <filesystem>
#include <system_error>
#include <utility>

namespace mmioscope::reading {

void Checkpoints::add(Checkpoint checkpoint) {
    all_.push_back(std::move(checkpoint));
    while (all_.size() > 1 && (all_.size() > most || bytes() > most_bytes)) {
        std::size_t kept = 0;
        for (std::size_t i = 0; i < all_.size(); i += 2) {
            std::swap(all_[kept++], all_[i]);
        }
        all_.resize(kept);
        between_ *= 2;
    }
}

const Checkpoint& Checkpoints::in_front_of(const std::function<bool(const Checkpoint&)>& behind) {
    used_ = true;
    return *std::prev(std::find_if(all_.begin() + 1, all_.end(), behind));
}

std::size_t Checkpoints::bytes() const {
    constexpr std::size_t of_value = 64; // overhead of a map node on the heap
    std::size_t bytes = 0;
    for (std::size_t i = 1; i < all_.size(); ++i) {
        bytes += sizeof all_[i] + all_[i].markers.bytes() +
                 all_[i].place.learnt.bytes_beside(all_[i - 1].place.learnt);
        for (const auto& [device, values] : all_[i].held) {
            bytes += of_value * (1 + values.size());
        }
    }
    return bytes;
}

namespace {

bool names_mark(const std::optional<Moment>& moment) {
    return moment && !moment->mark.empty();
}

/// Goes through the marks of a trace, from the first one on.
class Marks {
public:
    explicit Marks(const TraceOptions& options) : path_(options.path), trace_(plain(options)) {}

    /// The time of the next one that is called `name`, at `earliest` or later.
    Moment next(const std::string& name, std::uint64_t earliest) {
        while (const Event* const event = trace_.next()) {
            if (event->record.type == abi::RecordType::marker && event->nanoseconds >= earliest &&
                (event->text() == name || event->text() == '"' + name + '"')) {
                return event->nanoseconds;
            }
        }
        throw bad_input("{}: there is no mark '{}'{}", path_, name,
                        earliest > 0 || found_ ? " from there on" : "");
    }

    void found() { found_ = true; }

private:
    static TraceOptions plain(const TraceOptions& options) {
        TraceOptions all;
        all.path = options.path;
        all.one_file = options.one_file;
        all.start = options.start;
        all.report = [](const std::string&) {}; // the other reading reports it
        return all;
    }

    std::string path_;
    Trace trace_;
    bool found_ = false;
};

} // namespace

TraceOptions with_times_of_marks(TraceOptions options) {
    if (!names_mark(options.from) && !names_mark(options.to)) {
        return options;
    }
    std::error_code problem;
    if (options.wait || !std::filesystem::is_regular_file(options.path, problem)) {
        throw bad_input("{}: a range by marks takes a file that is complete, because it is read "
                        "twice",
                        options.path);
    }
    Marks marks(options);
    if (names_mark(options.from)) {
        options.from = marks.next(options.from->mark, 0);
        marks.found();
    }
    if (names_mark(options.to)) {
        const bool since_start = options.from && !options.from->of_counter;
        options.to = marks.next(options.to->mark, since_start ? options.from->nanoseconds : 0);
    }
    return options;
}

} // namespace mmioscope::reading
