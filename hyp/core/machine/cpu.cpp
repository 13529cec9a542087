#include "machine/cpu.hpp"

namespace mmioscope {

void record_power(Cpu& cpu, abi::PowerEvent event, std::uint32_t pa) {
    abi::Record record{};
    record.type = abi::RecordType::power;
    record.device = abi::no_device;
    record.value = abi::power_value(event, cpu.number);
    record.pa_low = pa;
    cpu.ring.publish_event(record);
}

} // namespace mmioscope
