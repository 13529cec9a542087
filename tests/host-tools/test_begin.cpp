// Traces in `pre` mode: begin records are in order, and shown only if an access has no end.
#include "given_event.hpp"
#include "records.hpp"
#include "records/groups.hpp"
#include "records/verdict.hpp"
#include "rings/merge.hpp"
#include "trees.hpp"
#include "view/printer.hpp"

#include <functional>
#include <random>

using namespace mmioscope;
using namespace mmioscope::test;

namespace {

abi::Record begin(unsigned cpu, std::uint32_t sequence, std::uint64_t time) {
    abi::Record record = access(cpu, sequence, time);
    record.type = abi::RecordType::begin;
    record.flags = abi::flag_value_unknown;
    return record;
}

/// The record of the access that began with begin(cpu, sequence - 1, time).
abi::Record end(unsigned cpu, std::uint32_t sequence, std::uint64_t time) {
    abi::Record record = access(cpu, sequence, time);
    record.pc = begin(cpu, sequence - 1, time).pc;
    record.lock_sequence = sequence - 1;
    return record;
}

/// The output of a printer for the events from `add`.
std::string printed(const view::LineStyle& style, bool collapse,
                    const std::function<void(view::Printer&)>& add) {
    char* text = nullptr;
    std::size_t size = 0;
    std::FILE* out = ::open_memstream(&text, &size);
    view::Printer printer(out, {.collapse = collapse}, style);
    add(printer);
    std::fclose(out);
    std::string all(text, size);
    std::free(text); // NOLINT: open_memstream's
    return all;
}

std::string printed(const std::vector<abi::Record>& records, bool collapse) {
    const std::vector<abi::RegionEntry> regions{region(0x1c09'0000, 0x1000, "/serial@90000")};
    const tree::DeviceNames names(regions, small_tree());
    view::LineStyle style;
    style.frequency = 1'000'000;
    style.device_width = names.width();
    return printed(style, collapse, [&](view::Printer& printer) {
        for (const abi::Record& record : records) {
            printer.add(given_event(
                record, {.nanoseconds = record.time * 1000,
                         .device = names[record.device],
                         .offset = abi::physical_address(record) - names.base(record.device)}));
        }
        printer.finish();
    });
}

/// Knows a function and its caller, with other names after learning.
class LearningNames final : public Names {
public:
    LearningNames() { locations_.insert(locations_.end(), {&code_, &caller_, &another_}); }
    void learn() { learnt_ = true; }
    void forget() { locations_.assign(locations_.size(), &another_); }

private:
    void resolve(std::span<const Event> events) override {
        for (const Event& event : events) {
            if (event.ids.caller == unasked) {
                event.ids.place = event.ids.task = no_id;
                event.ids.code = learnt_ ? 3 : 1;
                event.ids.caller = learnt_ ? 3 : 2;
            }
        }
    }
    Id interrupt_of(const Event&) override { return no_id; }
    Id text_of(const Event&) override { return no_id; }

    Location code_{"first_function", 4, "a_module", {}};
    Location caller_{"its_caller", 8, "", {}};
    Location another_{"another_name", 0, "", {}};
    bool learnt_ = false;
};

std::size_t count(const std::string& text, const std::string& word) {
    std::size_t n = 0;
    for (std::size_t at = text.find(word); at != std::string::npos; at = text.find(word, at + 1)) {
        ++n;
    }
    return n;
}

} // namespace

TEST_CASE("an access that has ended is not open") {
    trace::OpenAccesses open;
    CHECK(!open.add(begin(0, 0, 10)));
    CHECK(open.open().size() == 1);
    CHECK(!open.add(begin(1, 0, 11)));
    CHECK(!open.add(end(0, 1, 10)));
    REQUIRE(open.open().size() == 1);
    CHECK(open.open()[0].cpu == 1);
}

TEST_CASE("a begin without its end is reported when the CPU goes on") {
    trace::OpenAccesses open;
    SECTION("another begin") {
        open.add(begin(0, 0, 10));
        const auto unended = open.add(begin(0, 1, 20));
        REQUIRE(unended);
        CHECK(unended->time == 10);
        CHECK(open.open().size() == 1);
    }
    SECTION("another access") {
        open.add(begin(0, 0, 10));
        CHECK(open.add(access(0, 1, 20)));
        CHECK(open.open().empty());
    }
    SECTION("a fault ends it, too") {
        open.add(begin(0, 0, 10));
        abi::Record fault = end(0, 1, 10);
        fault.type = abi::RecordType::fault;
        CHECK(!open.add(fault));
    }
    SECTION("missing records leave it unknown") {
        open.add(begin(0, 0, 10));
        CHECK(!open.add(access(0, 2, 20)));
        open.add(begin(0, 3, 30));
        abi::Record gap = access(0, 4, 40);
        gap.type = abi::RecordType::gap;
        CHECK(!open.add(gap));
        CHECK(open.open().empty());
    }
}

TEST_CASE("only begin records without an end are printed, and none counts as an event") {
    std::vector<abi::Record> records{begin(0, 0, 10), end(0, 1, 10), begin(0, 2, 20)};
    records[2].task = 0xc0de'1000;
    const bool collapse = GENERATE(false, true);
    const std::string text = printed(records, collapse);
    CHECK(count(text, "serial@90000") == 2);
    CHECK(count(text, "task 0xc0de1000 (begun, no end recorded)") == 1);
    CHECK(count(text, "no end recorded") == 1);
    trace::Summary summary;
    for (const abi::Record& record : records) {
        summary.add(record);
    }
    CHECK(summary.events() == 1);
    CHECK(trace::other_counts(summary, {}) == "other records: 2 begin\n");
}

TEST_CASE("a held event keeps its names when names change later") {
    const bool collapse = GENERATE(false, true);
    const std::string text = printed({}, collapse, [](view::Printer& printer) {
        LearningNames names;
        const abi::Record records[] = {begin(1, 0, 10), access(0, 0, 20)};
        for (const abi::Record& record : records) {
            Event event;
            event.record = record;
            event.names = &names;
            printer.add(event);
            names.learn();
        }
        printer.finish();
    });
    CHECK(count(text, "first_function+0x4 [a_module] <- its_caller ") == 1);
}

TEST_CASE(
    "an access that has begun is printed with its names even if they were forgotten meanwhile") {
    const bool collapse = GENERATE(false, true);
    view::LineStyle style;
    style.frequency = 1'000'000;
    style.time = GENERATE(view::TimeStyle::relative, view::TimeStyle::delta);
    const auto lines = [&](bool forgets) {
        return printed(style, collapse, [forgets](view::Printer& printer) {
            LearningNames names;
            const abi::Record records[] = {begin(1, 0, 10), access(0, 0, 20), access(0, 1, 50)};
            for (const abi::Record& record : records) {
                Event event;
                event.record = record;
                event.nanoseconds = record.time * 1000;
                event.names = &names;
                printer.add(event);
                if (forgets) {
                    printer.forget();
                    names.forget();
                }
            }
            printer.finish();
        });
    };
    const std::string expected = lines(false);
    CHECK(count(expected, " first_function+0x4 [a_module] <- its_caller") == 3);
    INFO(expected);
    const std::string text = lines(true);
    const std::string begun = "first_function+0x4 [a_module] <- its_caller task 0x0 (begun, no end";
    CHECK(count(text, begun) == 1);
    CHECK(text.substr(text.rfind("cpu1") - 10) == expected.substr(expected.rfind("cpu1") - 10));
}

TEST_CASE("the merge keeps each access after its begin, and both in lock order") {
    std::mt19937 random(1);
    for (int round = 0; round < 200; ++round) {
        rings::Merge merge(2);
        std::vector<abi::Record> queue[2];
        std::uint64_t time = 1;
        for (std::uint32_t lock = 0; lock < 20; ++lock) {
            const unsigned cpu = random() % 2;
            time += random() % 2; // includes equal times
            for (const auto type : {abi::RecordType::begin, abi::RecordType::access}) {
                abi::Record record =
                    access(cpu, static_cast<std::uint32_t>(queue[cpu].size()), time);
                record.type = type;
                record.lock_sequence = lock;
                queue[cpu].push_back(record);
            }
        }
        std::vector<abi::Record> out;
        for (unsigned cpu = 0; cpu < 2; ++cpu) {
            merge.push(cpu, std::move(queue[cpu]));
        }
        merge.flush(out);
        REQUIRE(out.size() == 40);
        for (std::size_t i = 0; i < out.size(); ++i) {
            REQUIRE(out[i].lock_sequence == i / 2);
            REQUIRE(out[i].type == (i % 2 == 0 ? abi::RecordType::begin : abi::RecordType::access));
        }
    }
}
