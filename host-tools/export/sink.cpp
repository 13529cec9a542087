#include "export/sink.hpp"

#include "system/file_descriptor.hpp"

namespace mmioscope::exporting {

void Sink::flush() {
    append(fd_, std::as_bytes(std::span(text_.data(), text_.size())), name_.c_str());
    text_.clear();
}

} // namespace mmioscope::exporting
