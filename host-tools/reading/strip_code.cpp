#include "reading/strip_code.hpp"

#include "abi/control.hpp"

namespace mmioscope::reading {

namespace {

// The address is one of code where a CPU was started, or asked for something, and where the guest
// executed from a device.
bool address_is_code(const abi::Record& record) {
    return record.type == abi::RecordType::power || record.type == abi::RecordType::fetch;
}

} // namespace

bool names_pcs(const abi::Record& record) {
    return record.type == abi::RecordType::configuration &&
           abi::control::tag_command(record.pa_low) == abi::control::Command::filter_pcs;
}

void strip_code(abi::Record& record) {
    if (record.type != abi::RecordType::task) { // a name, which stays
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
