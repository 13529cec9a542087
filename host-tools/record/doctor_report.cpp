#include "record/doctor_report.hpp"

#include "abi/doctor.hpp"
#include "abi/layout.hpp"

#include <fmt/format.h>

#include <string_view>

namespace mmioscope::record {

namespace {

/// What follows `prefix` in `line`; nothing if that is not how it begins.
bool remove_prefix(std::string_view& line, std::string_view prefix) {
    if (!line.starts_with(prefix)) {
        return false;
    }
    line.remove_prefix(prefix.size());
    return true;
}

} // namespace

// Boards send CR LF. Anything but printable ASCII is noise, or not for a terminal.
void DoctorReport::feed(std::span<const std::byte> bytes) {
    for (const std::byte byte : bytes) {
        if (ended_) { // the same, whatever comes in one read
            return;
        }
        const char c = static_cast<char>(byte);
        if (c == '\n') {
            add_line();
            line_.clear();
        } else if (c >= ' ' && c <= '~' && line_.size() < longest) {
            line_.push_back(c);
        }
    }
}

void DoctorReport::add_line() {
    std::string_view line = line_;
    if (begun_ && line == abi::end_of_report) {
        ended_ = true;
    } else if (remove_prefix(line, abi::doctor::line)) {
        begun_ = true;
        check_ = line.substr(0, line.find(": "));
        const bool failed =
            line.find(std::string(": ") + abi::doctor::failed) != std::string_view::npos;
        if (failed && failed_lines_ < most_failed) {
            ++failed_lines_;
            failed_ += line_ + "\n";
        }
    } else if (remove_prefix(line, abi::stop_line)) {
        begun_ = true;
        can_trace_ = line.starts_with(abi::doctor::can_trace);
        if (remove_prefix(line, abi::doctor::line)) {
            verdict_ = line;
        } else { // the hypervisor's own reason
            verdict_ = fmt::format("this board cannot trace: {}", line);
        }
    }
}

// A line begins before its check is made.
bool DoctorReport::begun() const {
    return begun_ || line_.starts_with(abi::doctor::line);
}

std::string DoctorReport::text() const {
    if (!verdict_.empty()) {
        return failed_ + verdict_ + "\n";
    }
    std::string_view line = line_;
    const bool unfinished = remove_prefix(line, abi::doctor::line);
    const std::string_view last = unfinished ? line.substr(0, line.find(": ")) : check_;
    return failed_ + fmt::format("this board cannot trace: its report ends {} the check '{}'\n",
                                 unfinished ? "in" : "behind", last);
}

} // namespace mmioscope::record
