// The record of a request (abi/control.hpp), or of what one might have asked for.
#pragma once

#include "abi/control.hpp"
#include "machine/machine.hpp"

namespace mmioscope {

inline void record_request(Cpu& cpu, const abi::control::Request& r,
                           abi::RecordType type = abi::RecordType::configuration) {
    using abi::control::Command;
    const bool of_device = r.command == Command::select || r.command == Command::deselect;
    const auto device = static_cast<std::uint16_t>(of_device ? r.argument[0] : abi::no_device);
    abi::Record record = event_record(type, r.argument[0] | std::uint64_t{r.argument[1]} << 32,
                                      abi::control::change_tag(r), device);
    cpu.ring.publish_event(record);
}
inline void record_change(Cpu& cpu, abi::control::Command command, std::uint32_t first,
                          std::uint32_t second) {
    record_request(cpu, {abi::control::version, command, 0, {first, second}, 0});
}

} // namespace mmioscope
