#include "reading/trace.hpp"

#include "lib/error.hpp"

#include <unistd.h>

namespace mmioscope::reading {

Trace::Trace(const TraceOptions& options)
    : file_(options.path == "-" ? FileDescriptor() : open_input(options.path)),
      source_(file_ ? file_.get() : STDIN_FILENO) {
    const auto report = [path = options.path](const std::string& text) {
        fmt::print(stderr, "mmioscope: {}: {}\n", path, text);
    };
    try {
        reader_ = std::make_unique<trace::TraceReader>(source_, report);
    } catch (const Error& error) {
        throw Error(error.status(), options.path + ": " + error.what());
    }
    naming_ = std::make_unique<Naming>(*reader_);
}

const Event* Trace::next() {
    if (block_.empty()) {
        block_ = reader_->next();
        if (block_.empty()) {
            return nullptr;
        }
    }
    event_ = naming_->event(block_.front());
    block_ = block_.subspan(1);
    return &event_;
}

} // namespace mmioscope::reading
