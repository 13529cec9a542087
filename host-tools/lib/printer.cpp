#include "lib/printer.hpp"

#include <fmt/format.h>

#include <iterator>

namespace mmioscope::trace {

Printer::Printer(std::FILE* out, const PrintOptions& options, const LineContext& context)
    : out_(out), options_(options), context_(context),
      collapse_(context.frequency / 4, [this](const Run& run) { print(run); }) {}

void Printer::add(std::span<const abi::Record> records) {
    for (const abi::Record& record : records) {
        if (options_.cpu < 0 || record.cpu == options_.cpu) {
            add(record);
        }
    }
}

// Of a begin record there is a line only if it is all there is of its access.
void Printer::add(const abi::Record& record) {
    if (const std::optional<abi::Record> unended = begun_.add(record)) {
        show(*unended);
    }
    if (record.type != abi::RecordType::begin) {
        show(record);
    }
}

void Printer::show(const abi::Record& record) {
    if (lines_ >= options_.limit) {
        not_printed_ += record.type == abi::RecordType::access ? 1 : 0;
    } else if (options_.collapse) {
        collapse_.add(record);
    } else {
        print({record, record, 1});
    }
}

void Printer::finish() {
    for (const abi::Record& begin : begun_.open()) {
        show(begin);
    }
    flush();
}

void Printer::flush() {
    collapse_.flush();
    std::fflush(out_);
}

void Printer::print(const Run& run) {
    if (lines_ >= options_.limit) {
        not_printed_ += run.first.type == abi::RecordType::access ? run.count : 0;
        return;
    }
    if (lines_++ == 0) {
        line_ = line_titles(context_) + "\n";
        std::fwrite(line_.data(), 1, line_.size(), out_);
    }
    line_.clear();
    append_line(line_, run.first, context_);
    if (run.count > 1) {
        fmt::format_to(std::back_inserter(line_), "  x{}", run.count);
    }
    if (run.count > 1 && run.last.value != run.first.value) {
        fmt::format_to(std::back_inserter(line_), ", last {:#x}", run.last.value);
    }
    line_ += '\n';
    std::fwrite(line_.data(), 1, line_.size(), out_);
}

} // namespace mmioscope::trace
