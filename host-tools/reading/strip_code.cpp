#include "reading/strip_code.hpp"

#include "abi/control.hpp"

namespace mmioscope::reading {

namespace {

// The address is one of code where a CPU was started, or asked for something, and where the guest
// executed from a device.
bool address_is_code(const abi::Record& record) {
    return record.type == abi::RecordType::power || record.type == abi::RecordType::fetch;
}

bool names_pcs(const abi::Record& record) {
    return record.type == abi::RecordType::configuration &&
           abi::control::tag_command(record.pa_low) == abi::control::Command::filter_pcs;
}

} // namespace

void strip_code(Event& event, abi::Record& copy) {
    copy = *event.record;
    if (copy.type != abi::RecordType::task) { // a name, which stays
        copy.pc = copy.lr = copy.sp = copy.va = 0;
    }
    if (address_is_code(copy)) {
        abi::set_physical_address(copy, 0);
        event.offset = 0;
    }
    if (names_pcs(copy)) {
        copy.value = 0;
        event.text = "filter pc";
    }
    event.record = &copy;
    event.code = event.caller = nullptr;
}

} // namespace mmioscope::reading
