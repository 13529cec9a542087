#include "export/value_text.hpp"

#include <utility>

namespace mmioscope::exporting {

ValueText::ValueText(std::function<std::string(const Event&)> form)
    : form_(std::move(form)), none_(form_(Event())) {}

// With a value of zero the text has "0x0" where other values have their number. A form without
// fields has none.
ValueText::OfContext ValueText::of_context(const Event& event) const {
    OfContext context;
    context.has_fields = event.reg() != nullptr && !event.reg()->fields.empty();
    if (const Field* const lone = lone_field(event)) {
        Event zero = event;
        zero.record.value = 0;
        zero.record.flags = 0;
        zero.record.type = abi::RecordType::access;
        const std::string text = form_(zero);
        if (const std::size_t at = text.rfind("0x0"); at != std::string::npos) {
            context.lone = true;
            context.before = BasicPiece<32>(text.substr(0, at));
            context.after = BasicPiece<32>(text.substr(at + 3));
            context.bits = registers::FieldBits(
                *lone, static_cast<unsigned>(event.offset() - event.reg()->offset));
        }
    }
    return context;
}

} // namespace mmioscope::exporting
