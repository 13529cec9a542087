// The part of a register's description that an access covers.
#pragma once

#include "mmioscope/event.hpp"
#include "registers/fields_text.hpp"

#include <string>

namespace mmioscope::analysis {

/// Bytes from the start of the access's register; 0 if it has no description.
inline unsigned within_register(const Event& event) {
    return event.reg() == nullptr ? 0 : static_cast<unsigned>(event.offset() - event.reg()->offset);
}

/// The fields in the access's value; empty if the register has no description.
inline std::string fields_of(const Event& event) {
    return event.reg() == nullptr
               ? std::string()
               : registers::fields_text(*event.reg(), event.record.value,
                                        abi::access_size(event.record), within_register(event));
}

} // namespace mmioscope::analysis
