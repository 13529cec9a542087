#include "reading/trace.hpp"

#include "lib/error.hpp"
#include "lib/growing_source.hpp"
#include "reading/strip_code.hpp"

#include <unistd.h>

#include <algorithm>

namespace mmioscope::reading {

namespace {

std::unique_ptr<trace::ByteSource> source_of(int fd, const TraceOptions& options) {
    if (options.wait) {
        return std::make_unique<trace::GrowingSource>(fd, options.wait);
    }
    return std::make_unique<trace::FileSource>(fd);
}

std::optional<filter::Filter> make_filter(const TraceOptions& options) {
    if (options.filter.empty()) {
        return std::nullopt;
    }
    filter::Settings settings = options.settings;
    settings.code = !options.no_pc;
    return filter::Filter(options.filter, settings);
}

} // namespace

Trace::Trace(const TraceOptions& options)
    : options_(options), filter_(make_filter(options)),
      file_(options.path == "-" ? FileDescriptor() : open_input(options.path)),
      source_(source_of(file_ ? file_.get() : STDIN_FILENO, options)) {
    const auto report = [path = options.path](const std::string& text) {
        fmt::print(stderr, "mmioscope: {}: {}\n", path, text);
    };
    try {
        reader_ = std::make_unique<trace::TraceReader>(*source_, report);
    } catch (const Error& error) {
        throw Error(error.status(), options.path + ": " + error.what());
    }
    naming_ = std::make_unique<Naming>(*reader_);
    if (filter_) {
        filter_->bind(*reader_);
    }
}

bool Trace::in_range(const Event& event) const {
    const auto is_its = [&event](unsigned cpu) { return cpu == event.record->cpu; };
    const bool of_cpu = options_.cpus.empty() || event.record->type == abi::RecordType::marker ||
                        std::any_of(options_.cpus.begin(), options_.cpus.end(), is_its);
    return of_cpu && event.nanoseconds >= options_.from.value_or(0) &&
           (!options_.to || event.nanoseconds < *options_.to);
}

const Event* Trace::next() {
    const Event* event = take();
    for (; event != nullptr && filter_ && !(*filter_)(*event); event = take()) {
        ++left_out_;
    }
    return event;
}

// The next one in the range.
const Event* Trace::take() {
    do {
        if (block_.empty()) {
            block_ = reader_->next();
        }
        if (block_.empty()) {
            return nullptr;
        }
        event_ = naming_->event(block_.front());
        block_ = block_.subspan(1);
    } while (!in_range(event_));
    if (options_.no_pc) {
        strip_code(event_, stripped_);
    }
    return &event_;
}

} // namespace mmioscope::reading
