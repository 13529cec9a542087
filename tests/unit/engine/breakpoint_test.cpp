// What the breakpoints of a step match.
#include "sim/guest_cpu.hpp"
#include "sim/judge.hpp"

#include "catch_2_or_3.hpp"
#include "trap/fast_path.hpp"

using namespace mmioscope;
using namespace mmioscope::sim;

TEST_CASE("a breakpoint's controls say where it matches") {
    constexpr std::uint32_t any_pl = 3 << 1 | 1;
    const Matches both = where_matches(any_pl);
    CHECK((both.nonsecure && both.secure && both.pl0 && both.pl1 && !both.hyp));
    const Matches nonsecure = where_matches(1 << 14 | any_pl);
    CHECK((nonsecure.nonsecure && !nonsecure.secure));
    const Matches secure = where_matches(2 << 14 | any_pl);
    CHECK((!secure.nonsecure && secure.secure));
    const Matches hyp_too = where_matches(1 << 14 | 1 << 13 | any_pl);
    CHECK((hyp_too.hyp && !hyp_too.secure));
    CHECK(!where_matches(1 << 14 | 1 << 1 | 1).pl0);
    CHECK(!where_matches(1 << 14 | 2 << 1 | 1).pl1);
}

TEST_CASE("the breakpoints of a step match in Non-secure PL1 and PL0, and nowhere else") {
    const bool thumb = GENERATE(false, true);
    Rig rig(options_for(abi::EngineKind::shadow, 1, 5));
    unsigned steps = 0;
    rig.simulation.meanwhile = [&](const Core& core) {
        if (!in_step(rig.machine->cpus[0])) return;
        ++steps;
        for (unsigned n = 0; n < 6; ++n) {
            const auto control =
                static_cast<std::uint32_t>(core.system.get(encode32(14, 0, 0, n, 5)));
            CHECK(((control & 1) != 0) == (n < step_breakpoints));
            if ((control & 1) == 0) continue;
            const Matches where = where_matches(control);
            CHECK((where.nonsecure && where.pl0 && where.pl1));
            CHECK(!where.secure);
            CHECK(!where.hyp);
        }
    };
    Code code = rig.program(0);
    code.mov(0, at::wide);
    if (thumb) code.to_thumb().half(0x6801).half(0x6842).end_thumb(); // the same two
    else code.ldr(1, 0).ldr(2, 0, 4).end();
    rig.run();
    CHECK(rig.failure() == "");
    CHECK(steps >= 2);
}
