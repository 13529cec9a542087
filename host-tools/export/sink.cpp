#include "export/sink.hpp"

#include "system/file_descriptor.hpp"

#include <fmt/format.h>

namespace mmioscope::exporting {

void Sink::flush() {
    append(fd_, std::as_bytes(std::span(text_.data(), text_.size())), name_.c_str());
    text_.clear();
}

// A text is what every format has a place for.
void Exporter::add_derived(const DerivedEvent& derived) {
    std::string words = fmt::format("{} events={} last_event={} last_ns={}", derived.kind,
                                    derived.count, derived.last_number, derived.last_nanoseconds);
    for (const DerivedEvent::Field& field : derived.fields) {
        const auto* const number = std::get_if<std::uint64_t>(&field.value);
        words += number != nullptr
                     ? fmt::format(" {}={:#x}", field.name, *number)
                     : fmt::format(" {}={}", field.name, std::get<std::string>(field.value));
    }
    add(derived.with_text(words));
}

} // namespace mmioscope::exporting
