#include "view/words.hpp"

namespace mmioscope::view {

std::string_view engine_word(abi::EngineKind engine) {
    switch (engine) {
    case abi::EngineKind::shadow: return "shadow";
    case abi::EngineKind::emulation: return "emulation";
    case abi::EngineKind::unprotect: return "unprotect";
    }
    return "unknown";
}

std::string_view section_word(abi::SectionType type) {
    switch (static_cast<std::uint32_t>(type)) {
    case 1: return "info";
    case 2: return "device tree";
    case 3: return "regions";
    case 4: return "records";
    case 5: return "losses";
    case 6: return "statistics";
    case 7: return "text";
    case 8: return "end";
    case 9: return "previous boot";
    case 10: return "index";
    case 11: return "symbols";
    case 12: return "modules";
    case 13: return "tasks";
    case 14: return "console";
    case 15: return "callers";
    case 16: return "packed";
    default: return "unknown";
    }
}

} // namespace mmioscope::view
