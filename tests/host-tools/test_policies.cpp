// The line about the policies of a trace, and its place in a recording.
#include "abi/control.hpp"
#include "recorder_process.hpp"
#include "records/summary.hpp"

using namespace mmioscope;
using namespace mmioscope::test;

namespace {

abi::Record change(abi::Policy policy, std::uint32_t sequence = 0) {
    abi::Record record = access(0, sequence, 1000 + 10 * sequence);
    record.type = abi::RecordType::configuration;
    record.device = abi::no_device;
    record.value = static_cast<std::uint32_t>(policy);
    record.pa_low =
        abi::control::change_tag(abi::control::make_request(abi::control::Command::policy, 0x1234));
    return record;
}

trace::Policies after(const std::vector<abi::Policy>& changes) {
    trace::Policies policies;
    for (const abi::Policy policy : changes) {
        policies.add(change(policy));
        policies.add(access(0, 0, 0)); // changes nothing
    }
    return policies;
}

constexpr abi::Policy drop = abi::Policy::drop;
constexpr abi::Policy stall = abi::Policy::stall;

} // namespace

TEST_CASE("policies: the policies in force are listed in order, in one line") {
    CHECK(after({}).line(drop) == "policy: drop");
    CHECK(after({}).line(abi::Policy::flight) == "policy: flight");
    CHECK(after({stall}).line(drop) == "policy: drop, then stall");
    CHECK(after({stall, drop}).line(drop) == "policy: drop, then stall, drop");
    CHECK(after({stall, drop, stall}).line(drop) == "policy: drop, then stall, drop, stall");
    CHECK(after({}).line(std::nullopt) == "policy: not known");
    CHECK(after({drop}).line(std::nullopt) == "policy: not known, then drop");
}

TEST_CASE("policies: a request for the policy in force is no change") {
    CHECK(after({drop}).line(drop) == "policy: drop");
    CHECK(after({stall, stall}).line(drop) == "policy: drop, then stall");
    CHECK(after({drop, stall, drop, stall}).line(drop) == "policy: drop, then stall, drop, stall");
}

TEST_CASE("policies: many changes do not lengthen the line without limit") {
    std::vector<abi::Policy> changes;
    for (int i = 0; i < 1001; ++i) {
        changes.push_back(i % 2 == 0 ? stall : drop);
    }
    CHECK(after(changes).line(drop) == "policy: drop, then stall, drop, stall, ... (1001 changes)");
    changes.insert(changes.begin(), drop);
    CHECK(after(changes).line(drop) == "policy: drop, then stall, drop, stall, ... (1001 changes)");
}

TEST_CASE("policies: only a request for a policy changes it") {
    abi::Record other = change(stall);
    other.pa_low =
        abi::control::change_tag(abi::control::make_request(abi::control::Command::sample, 0x1234));
    trace::Policies policies;
    policies.add(other);
    other = change(stall);
    other.type = abi::RecordType::marker;
    policies.add(other);
    CHECK(policies.line(drop) == "policy: drop");
    CHECK(policies.now(drop) == drop);
    CHECK(after({stall, drop}).now(stall) == drop);
}

TEST_CASE("record: the line of the verdict follows that of the policies") {
    const Folder folder;
    Stream stream = Stream().records(0, 1000);
    std::string said_policy = "policy: drop\n";
    std::uint32_t count = 1000;
    SECTION("one") {}
    SECTION("changed") {
        stream.maker.records({change(stall, count++)});
        said_policy = "policy: drop, then stall\n";
    }
    std::ofstream(folder / "s") << stream.end(count).text();
    Recorder recorder(folder, from(folder / "s"));
    CHECK(recorder.status() == 0);
    CHECK_THAT(recorder.said(), Catch::EndsWith("missing\n" + said_policy + whole));
}

TEST_CASE("record: each boot has its own policies, and data without a boot has none") {
    const Folder folder;
    SECTION("boots") {
        Stream first = Stream(1).records(0, 100);
        first.maker.records({change(stall, 100)});
        std::ofstream(folder / "s")
            << first.end(101).text() << Stream(2).records(0, 200).end(200).text();
        Recorder recorder(folder, from(folder / "s"));
        CHECK(recorder.status() == 0);
        CHECK_THAT(recorder.said(), Catch::Contains("policy: drop, then stall\ncomplete: 100 ") &&
                                        Catch::Contains("policy: drop\ncomplete: 200 "));
    }
    SECTION("nothing") {
        std::ofstream(folder / "s") << std::string(1000, 'x');
        Recorder recorder(folder, from(folder / "s"));
        CHECK(recorder.status() == 1);
        CHECK_THAT(recorder.said(), Catch::Contains("\npolicy: not known\nincomplete: 0 events"));
    }
}

TEST_CASE("record: a later file begins with the policy in force by then") {
    const Folder folder;
    constexpr std::uint32_t count = 40'000;
    Stream stream = Stream().records(0, 10'000);
    stream.maker.records({change(stall, 10'000)}); // in the first of two files
    std::ofstream(folder / "s") << stream.records(10'001, count).end(count).text();
    record::Options options = from(folder / "s");
    options.rotate = record::min_rotate;
    Recorder recorder(folder, options);
    CHECK(recorder.status() == 0);
    const auto begins_with = [&](const char* name) {
        const FileDescriptor file = open_input(folder / name);
        FileSource source(file.get());
        return trace::TraceReader(source, [](const std::string&) {}).info()->policy;
    };
    CHECK(begins_with("t.mmio") == drop);
    CHECK(begins_with("t.2.mmio") == stall);
}
