#include "export/page_mappings.hpp"

#include "system/error.hpp"

#include <unistd.h>

#include <cerrno>
#include <cstring>

namespace mmioscope::exporting {

namespace {

std::int64_t place_of(std::uint64_t number) {
    return static_cast<std::int64_t>(number * sizeof(PageMappings::Mapping));
}

} // namespace

PageMappings::Mapping& PageMappings::of(std::uint64_t number) {
    const auto found = held_.find(number);
    if (found != held_.end()) {
        return found->second;
    }
    if (held_.size() == most_) {
        spill();
    }
    return held_.emplace(number, stored(number)).first->second;
}

void PageMappings::spill() {
    if (!file_) {
        file_ = temporary_file();
    }
    for (const auto& [number, mapping] : held_) {
        if (::pwrite(file_.get(), &mapping, sizeof mapping, place_of(number)) !=
            static_cast<ssize_t>(sizeof mapping)) {
            throw failure("cannot write a temporary file: {}", std::strerror(errno));
        }
    }
    held_.clear();
}

// Places never written contain zeros, or are after the end of the file.
PageMappings::Mapping PageMappings::stored(std::uint64_t number) const {
    Mapping mapping;
    if (file_ && ::pread(file_.get(), &mapping, sizeof mapping, place_of(number)) < 0) {
        throw failure("cannot read a temporary file: {}", std::strerror(errno));
    }
    return mapping;
}

} // namespace mmioscope::exporting
