#include "lib/printer.hpp"

#include <fmt/format.h>

#include <iterator>

namespace mmioscope::trace {

Printer::Printer(std::FILE* out, const PrintOptions& options, const LineContext& context)
    : out_(out), options_(options), context_(context),
      collapse_(context.frequency / 4, [this](const Run& run) { print(run); }) {}

// Of a begin record there is a line only if it is all there is of its access. The pieces of a
// marker's text may be of several CPUs.
void Printer::add(std::span<const abi::Record> records) {
    for (const abi::Record& record : records) {
        const bool wanted = options_.cpu < 0 || record.cpu == options_.cpu;
        if (const auto unended = wanted ? begun_.add(record) : std::nullopt) {
            show(*unended);
        }
        if (record.type == abi::RecordType::marker) {
            if (const std::optional<Marker> marker = markers_.add(record)) {
                print(*marker);
            }
        } else if (wanted && record.type != abi::RecordType::begin) {
            show(record);
        }
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
    for (const Marker& marker : markers_.open()) {
        print(marker);
    }
    flush();
}

void Printer::flush() {
    collapse_.flush();
    std::fflush(out_);
}

// False: no line any more.
bool Printer::begin_line() {
    if (lines_ >= options_.limit) {
        return false;
    }
    line_ = lines_++ == 0 ? line_titles(context_) + "\n" : "";
    return true;
}

void Printer::end_line() {
    line_ += '\n';
    std::fwrite(line_.data(), 1, line_.size(), out_);
}

void Printer::print(const Run& run) {
    if (!begin_line()) {
        not_printed_ += run.first.type == abi::RecordType::access ? run.count : 0;
        return;
    }
    append_line(line_, run.first, context_);
    if (run.count > 1) {
        fmt::format_to(std::back_inserter(line_), "  x{}", run.count);
    }
    if (run.count > 1 && run.last.value != run.first.value) {
        fmt::format_to(std::back_inserter(line_), ", last {:#x}", run.last.value);
    }
    end_line();
}

// Pieces of a text may be of several CPUs: it is whose last piece it has.
void Printer::print(const Marker& marker) {
    if (options_.cpu >= 0 && marker.record.cpu != options_.cpu) {
        return;
    }
    collapse_.flush();
    if (begin_line()) {
        append_line(line_, marker, context_);
        end_line();
    }
}

} // namespace mmioscope::trace
