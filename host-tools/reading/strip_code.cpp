#include "reading/strip_code.hpp"

#include "abi/control.hpp"
#include "abi/payload.hpp"

#include <algorithm>

namespace mmioscope::reading {

namespace {

// The address is a code address if a CPU was started or made a request, and if the guest executed
// code from a device.
bool address_is_code(const abi::Record& record) {
    return record.type == abi::RecordType::power || record.type == abi::RecordType::fetch;
}

} // namespace

bool names_pcs(const abi::Record& record) {
    return record.type == abi::RecordType::configuration &&
           abi::control::tag_command(record.pa_low) == abi::control::Command::filter_pcs;
}

void strip_code(abi::Record& record) {
    if (record.type == abi::RecordType::payload) { // may be anything
        std::fill_n(abi::bytes_of(record), abi::piece_bytes, std::uint8_t{0});
    }
    if (record.type != abi::RecordType::task) { // a name is kept
        record.pc = record.lr = record.sp = record.va = 0;
    }
    if (address_is_code(record)) {
        abi::set_physical_address(record, 0);
    }
    if (names_pcs(record)) {
        record.value = 0;
    }
}

} // namespace mmioscope::reading
