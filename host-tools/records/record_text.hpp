// Words for the numbers in a record.
#pragma once

#include "abi/record.hpp"
#include "abi/ring.hpp"

#include <string>
#include <string_view>

namespace mmioscope::trace {

/// r0 to r3 of a `call`: "(0x1, 0xc2095000, 0x0, 0x20)".
std::string arguments_text(const abi::Record& record);
/// r0 of a `ret`: "0x0".
std::string result_text(const abi::Record& record);
/// Why an access reached no device, or what is wrong with it. `value` is that of a fault record;
/// `device`, if known, the path of fault_region().
std::string fault_text(std::uint64_t value, std::string_view device = {});

/// " usr", " irq thumb", ...: the difference from ARM state in SVC mode, which most accesses have.
/// Also empty if the mode is unknown.
std::string_view mode_text(std::uint8_t mode);

/// Why a trace made by this engine is always incomplete; empty for engines that miss nothing.
std::string_view engine_caveat(abi::EngineKind engine);
std::string_view policy_text(abi::Policy policy);

/// "select 0x1c050000+0x1000", "filter value 0x4/0xff", "trigger fired", ...; without the device of
/// Record::device.
std::string change_text(const abi::Record& record);
/// Of a `move` record: "store from cpu0", "load, first", ...
std::string move_text(const abi::Record& record);
/// Of a `hits` record's value, or of the answer to a probe_hits.
std::string hits_text(std::uint64_t value);

} // namespace mmioscope::trace
