#include "analysis/uart_text.hpp"

#include <utility>

namespace mmioscope::analysis {

std::optional<UartText::Line> UartText::add(const Event& event) {
    const abi::Record& record = event.record;
    const bool data = record.type == abi::RecordType::access && abi::is_write(record) &&
                      event.offset() == 0 && record.device != abi::no_device;
    if (!data) {
        return std::nullopt;
    }
    Line& line = open_[record.device];
    const auto character = static_cast<char>(record.value & 0xff);
    if (character == '\n') {
        return std::exchange(line, {});
    }
    if (line.text.empty()) {
        line.nanoseconds = event.nanoseconds;
    }
    if (character != '\r' && line.text.size() < longest) {
        line.text += character;
    }
    return std::nullopt;
}

} // namespace mmioscope::analysis
