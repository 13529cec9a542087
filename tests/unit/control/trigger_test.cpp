// Where a trigger begins or ends the records, and its own records.
#include "catch_2_or_3.hpp"
#include "unit/control/asking.hpp"

#include <algorithm>

using namespace mmioscope;
using namespace mmioscope::sim;
using abi::control::make_request;

namespace {

/// The ring of CPU 0: W and R, a point for each change, ! where a trigger fired.
std::string seen(Rig& rig) {
    std::string text;
    for (const abi::Record& r : rig.records(0)) {
        const bool fired = r.value == abi::control::fired;
        if (r.type == abi::RecordType::configuration) text += fired ? '!' : '.';
        if (r.type == abi::RecordType::access) text += abi::is_write(r) ? 'W' : 'R';
    }
    return text;
}

/// Runs `requests` and then stores 1 to 6 into a register, each followed by a load from it.
std::string after(std::initializer_list<Request> requests, abi::EngineKind engine) {
    Rig rig(options_for(engine, 1, 1));
    Code code = rig.program(0);
    code.mov(0, at::wide + 8);
    for (const Request& request : requests) write_request(code, request);
    for (unsigned n = 1; n <= 6; ++n) code.mov(2, n).str(2, 0).ldr(1, 0);
    code.end();
    rig.run();
    CHECK(rig.failure() == "");
    CHECK(rig.reg(0, 1) == 6); // all are carried out, recorded or not
    const std::string text = seen(rig);
    const auto records = static_cast<std::uint64_t>(
        std::count_if(text.begin(), text.end(), [](char c) { return c == 'W' || c == 'R'; }));
    CHECK(rig.ring(0).statistics.filtered == 12 - records);
    return text;
}

} // namespace

TEST_CASE("a trigger starts or stops the records at the access it looks for") {
    const auto engine = GENERATE(abi::EngineKind::shadow, abi::EngineKind::emulation);
    const Request stores = make_request(Command::trigger_directions, 1, 2);
    const Request four = make_request(Command::trigger_values, 2, ~0u, 4);
    CHECK(after({stores, four, make_request(Command::trigger_start, 3, 1)}, engine) ==
          "...!WRWRWR");
    CHECK(after({stores, four, make_request(Command::trigger_stop, 3, 1)}, engine) ==
          "...WRWRWRW!");
    CHECK(after({make_request(Command::trigger_start, 3, 5)}, engine) == ".!WRWRWRWR");
    CHECK(after({make_request(Command::trigger_stop, 3, 5)}, engine) == ".WRWRW!");
    CHECK(after({make_request(Command::trigger_addresses, 1, at::wide + 12, 4),
                 make_request(Command::trigger_start, 3, 1)},
                engine) == "..");
}

TEST_CASE("a trigger sees accesses that filters hold back, and ends when it is removed") {
    const auto engine = GENERATE(abi::EngineKind::shadow, abi::EngineKind::emulation);
    CHECK(after({make_request(Command::filter_directions, 1, 1),
                 make_request(Command::trigger_start, 2, 5)},
                engine) == "..!WRRRR"); // the access that fires is always there
    CHECK(after({make_request(Command::trigger_start, 2, 5), make_request(Command::no_trigger, 3)},
                engine) == "..WRWRWRWRWRWR");
}

TEST_CASE("with two CPUs exactly one access fires the trigger, of either CPU", "[protocol]") {
    for (std::uint64_t seed = 1; seed <= seeds(40); ++seed) {
        Rig rig(options_for(abi::EngineKind::shadow, 2, seed));
        for (unsigned cpu = 0; cpu < 2; ++cpu) {
            Code code = rig.program(cpu);
            if (cpu == 0) write_request(code, make_request(Command::trigger_stop, 3, 9));
            code.mov(0, cpu == 0 ? at::wide : at::fifo).mov(2, 5);
            for (unsigned n = 0; n < 8; ++n) code.str(2, 0);
            code.end();
        }
        rig.run();
        CHECK(rig.failure() == "");
        CHECK(rig.text().find(abi::stop_line) == std::string::npos);
        unsigned fired = 0;
        for (unsigned cpu = 0; cpu < 2; ++cpu)
            for (const abi::Record& r : rig.records(cpu))
                fired += r.type == abi::RecordType::configuration && r.value == abi::control::fired;
        CHECK(fired <= 1); // none if CPU 1 had finished before it was armed
        if (rig.records_of(abi::RecordType::access).size() < 16) CHECK(fired == 1);
    }
}

TEST_CASE("with every filter and trigger removed no access is checked") {
    const bool filters_first = GENERATE(true, false);
    as_guest(options_for(abi::EngineKind::shadow, 1, 1), [&](Rig& rig, mmioscope::Cpu& cpu) {
        const bool& any = rig.services.choice.any;
        CHECK(!any);
        ask(cpu, Command::filter_directions, 1);
        ask(cpu, Command::trigger_directions, 2);
        ask(cpu, Command::trigger_stop, 5);
        CHECK(any);
        ask(cpu, filters_first ? Command::no_filter : Command::no_trigger);
        CHECK(any);
        ask(cpu, filters_first ? Command::no_trigger : Command::no_filter);
        CHECK(!any);
        ask(cpu, Command::no_trigger);
        ask(cpu, Command::policy, 1);
        CHECK(!any);
    });
}
