#include "run/live_printer.hpp"

#include "lib/error.hpp"
#include "lib/trace_reader.hpp"

#include <cstdio>
#include <memory>

namespace mmioscope::run {

LivePrinter::LivePrinter(int fd, trace::WriteProgress& progress, const trace::PrintOptions& options)
    : thread_([this, fd, &progress, options] {
          try {
              print(fd, progress, options);
          } catch (const Error& error) {
              fmt::print(stderr, "mmioscope: printing stopped: {}\n", error.what());
          }
      }) {}

LivePrinter::~LivePrinter() {
    if (thread_.joinable()) {
        thread_.join();
    }
}

std::uint64_t LivePrinter::finish() {
    thread_.join();
    return not_printed_;
}

void LivePrinter::print(int fd, trace::WriteProgress& progress,
                        const trace::PrintOptions& options) {
    std::unique_ptr<trace::Printer> printer;
    trace::FollowSource source(fd, progress, [&printer] {
        if (printer) {
            printer->flush(); // nothing new for a moment: show what was held back
        }
    });
    trace::TraceReader reader(source, [](const std::string&) {});
    for (auto records = reader.next(); !records.empty(); records = reader.next()) {
        if (!printer) {
            const std::uint32_t frequency = reader.info() ? reader.info()->counter_frequency : 0;
            printer = std::make_unique<trace::Printer>(
                stdout, options,
                trace::LineContext{&reader.names(), records.front().time, frequency});
        }
        printer->add(records);
        if (printer->broken()) {
            return; // nobody reads any more; the recording goes on
        }
    }
    if (printer) {
        printer->flush();
        not_printed_ = printer->not_printed();
    }
}

} // namespace mmioscope::run
