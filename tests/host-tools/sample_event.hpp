// An event with all its names, for tests of code that uses events.
#pragma once

#include "given_event.hpp"
#include "records.hpp"

namespace mmioscope::test {

/// It contains its names, so it is neither copied nor moved.
struct SampleEvent {
    Register reg{
        "FR",
        0x18,
        4,
        "flags",
        {{"BUSY", 3, 1, {}}, {"TXFF", 5, 1, {}}, {"MODE", 8, 4, {{0, "idle"}, {1, "run"}}}}};
    Location code{
        "pl011_tx_chars", 0x54, "", {{"pl011_read", "drivers/tty/serial/amba-pl011.c", 42}}};
    Location caller{"uart_start", 0x10, "snd_aaci", {}};
    Task task{57, 50, "kworker/0:1"};
    abi::Record record = access(1, 9, 0);
    Given given{1'500'000'000, "serial0", 0x18, &reg, &code, &caller, &task, "", ""};

    SampleEvent() {
        record.value = 0x121; // MODE run, TXFF set, BUSY clear
        record.pc = 0xc0812344;
        record.lr = 0xc0900000;
        record.sp = 0xc1001f00;
        record.va = 0xf0001018;
        record.pa_low = 0x1c090018;
        record.device = 3;
        record.task = 0xc1234560;
        record.duration = 40;
    }
    SampleEvent(const SampleEvent&) = delete;
    SampleEvent& operator=(const SampleEvent&) = delete;

    /// With the current `record` and `given`.
    Event event() const { return given_event(record, given); }
};

} // namespace mmioscope::test
