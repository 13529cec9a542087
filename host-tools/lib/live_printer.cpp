#include "lib/live_printer.hpp"

#include "lib/error.hpp"

#include <unistd.h>

#include <cstdio>

namespace mmioscope::trace {

namespace {
constexpr std::uint64_t lines_nobody_watches = 200;
}

PrintOptions live_options(bool all) {
    PrintOptions print;
    print.collapse = !all;
    if (!all && ::isatty(STDOUT_FILENO) == 0) {
        print.limit = lines_nobody_watches;
    }
    return print;
}

LivePrinter::LivePrinter(const PrintOptions& options)
    : options_(options), thread_([this] {
          try {
              run();
          } catch (const Error& error) {
              fmt::print(stderr, "mmioscope: printing stopped: {}\n", error.what());
          }
      }) {}

LivePrinter::~LivePrinter() {
    if (thread_.joinable()) {
        finish();
    }
}

void LivePrinter::follow(std::shared_ptr<FollowedFile> file, bool continued) {
    const std::lock_guard lock(mutex_);
    if (!closed_) {
        parts_.push_back({std::move(file), continued});
        changed_.notify_all();
    }
}

std::uint64_t LivePrinter::finish() {
    {
        const std::lock_guard lock(mutex_);
        closed_ = true;
        changed_.notify_all();
    }
    thread_.join();
    return not_printed_;
}

std::optional<LivePrinter::Part> LivePrinter::next() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return closed_ || !parts_.empty(); });
    if (parts_.empty()) {
        return std::nullopt;
    }
    Part part = std::move(parts_.front());
    parts_.pop_front();
    return part;
}

void LivePrinter::run() {
    for (std::optional<Part> part = next(); part; part = next()) {
        if (!print(*part)) { // nobody reads any more; the recording goes on
            const std::lock_guard lock(mutex_);
            closed_ = true;
            parts_.clear();
            return;
        }
    }
    end_printing();
}

// False once standard output takes nothing any more.
bool LivePrinter::print(const Part& part) {
    if (!part.continued) {
        end_printing();
    }
    FollowSource source(part.file->file.get(), part.file->written, [this] {
        if (printer_) {
            printer_->flush(); // nothing new for a moment: show what was held back
        }
    });
    TraceReader reader(source, [](const std::string&) {});
    for (auto records = reader.next(); !records.empty(); records = reader.next()) {
        if (!printer_) {
            start(reader, records.front());
        }
        printer_->add(records);
        if (printer_->broken()) {
            return false;
        }
    }
    return true;
}

void LivePrinter::start(const TraceReader& reader, const abi::Record& first) {
    names_ = reader.names();
    const std::uint32_t frequency = reader.info() ? reader.info()->counter_frequency : 0;
    printer_ =
        std::make_unique<Printer>(stdout, options_, LineContext{&names_, first.time, frequency});
}

void LivePrinter::end_printing() {
    if (printer_) {
        printer_->finish();
        not_printed_ += printer_->not_printed();
        printer_.reset();
    }
}

} // namespace mmioscope::trace
