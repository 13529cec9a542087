#include "reading/trace.hpp"

#include "lib/error.hpp"
#include "lib/growing_source.hpp"

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

} // namespace

Trace::Trace(const TraceOptions& options)
    : options_(options), file_(options.path == "-" ? FileDescriptor() : open_input(options.path)),
      source_(source_of(file_ ? file_.get() : STDIN_FILENO, options)) {
    const auto report = [path = options.path](const std::string& text) {
        fmt::print(stderr, "mmioscope: {}: {}\n", path, text);
    };
    if (!options.filter.empty()) {
        throw bad_input("-F {}: this mmioscope has no filters", options.filter);
    }
    try {
        reader_ = std::make_unique<trace::TraceReader>(*source_, report);
    } catch (const Error& error) {
        throw Error(error.status(), options.path + ": " + error.what());
    }
    naming_ = std::make_unique<Naming>(*reader_);
}

bool Trace::wanted(const Event& event) const {
    const auto is_its = [&event](unsigned cpu) { return cpu == event.record->cpu; };
    const bool of_cpu = options_.cpus.empty() || event.record->type == abi::RecordType::marker ||
                        std::any_of(options_.cpus.begin(), options_.cpus.end(), is_its);
    return of_cpu && event.nanoseconds >= options_.from.value_or(0) &&
           (!options_.to || event.nanoseconds < *options_.to);
}

const Event* Trace::next() {
    do {
        if (block_.empty()) {
            block_ = reader_->next();
            if (block_.empty()) {
                return nullptr;
            }
        }
        event_ = naming_->event(block_.front());
        block_ = block_.subspan(1);
    } while (!wanted(event_));
    if (options_.no_pc) {
        bare_ = *event_.record;
        bare_.pc = bare_.lr = bare_.sp = 0;
        event_.record = &bare_;
        event_.code = event_.caller = nullptr;
    }
    return &event_;
}

} // namespace mmioscope::reading
