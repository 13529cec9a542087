#include "reading/strip_code.hpp"

#include "abi/control.hpp"
#include "abi/payload.hpp"
#include "records/kinds.hpp"

#include <algorithm>

namespace mmioscope::reading {

bool names_pcs(const abi::Record& record) {
    return record.type == abi::RecordType::configuration &&
           abi::control::tag_command(record.pa_low) == abi::control::Command::filter_pcs;
}

void strip_code(abi::Record& record) {
    switch (trace::kind_of(record.type).hide) {
    case trace::Hide::everything:
        std::fill_n(abi::bytes_of(record), abi::piece_bytes, std::uint8_t{0});
        return;
    case trace::Hide::addresses: abi::set_physical_address(record, 0); [[fallthrough]];
    case trace::Hide::context:
        record.pc = record.lr = record.sp = record.va = 0;
        record.value = names_pcs(record) ? 0 : record.value;
        return;
    case trace::Hide::nothing: return;
    }
}

} // namespace mmioscope::reading
