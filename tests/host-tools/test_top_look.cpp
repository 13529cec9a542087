// The keys of `top`.
#include "view/top_screen.hpp"

#include "catch_2_or_3.hpp"
#include "given_event.hpp"

#include <fmt/format.h>

using namespace mmioscope;
using namespace mmioscope::test;
using analysis::Key;
using analysis::Rate;
using view::FullScreen;
using view::TopLook;

namespace {

Rate rate(const std::string& name, std::uint64_t reads, std::uint64_t writes,
          std::uint64_t duration) {
    analysis::Count count;
    count.reads = reads;
    count.writes = writes;
    count.duration = duration;
    return {name, count, 0};
}

const std::vector<Rate> devices = {rate("uart", 3, 1, 10), rate("mmc", 2, 7, 5),
                                   rate("uart2", 1, 0, 90)};

std::string names(const TopLook& look, const std::vector<Rate>& rates) {
    analysis::CountsByName counts(analysis::most_names);
    for (const Rate& rate : rates) {
        counts.of(rate.name) = rate.count;
    }
    analysis::Rates looked;
    looked.look(Key::device, counts, 1);
    std::string all;
    for (const Rate& row : looked.shown(look.choice()).rows) {
        all += row.name + ' ';
    }
    return all;
}

} // namespace

TEST_CASE("top: o selects the next order, and returns to the first after the last") {
    TopLook look;
    std::vector<std::string> orders;
    for (int i = 0; i < 6; ++i) {
        orders.push_back(std::string(view::order_text(look.order)) + ": " + names(look, devices));
        look.press('o', devices, 10);
    }
    CHECK(orders == std::vector<std::string>{"rate: mmc uart uart2 ", "reads: uart mmc uart2 ",
                                             "writes: mmc uart uart2 ", "time: uart2 uart mmc ",
                                             "name: mmc uart uart2 ", "rate: mmc uart uart2 "});
}

TEST_CASE("top: the screen follows the cursor, which stays in the table") {
    const std::vector<Rate> rows(10, rate("x", 1, 0, 0));
    TopLook look;
    const auto at = [&](int key) {
        look.press(key, rows, 4);
        return std::pair(look.cursor, look.first);
    };
    CHECK(at(FullScreen::up) == std::pair<std::size_t, std::size_t>(0, 0));
    CHECK(at(FullScreen::down) == std::pair<std::size_t, std::size_t>(1, 0));
    CHECK(at(FullScreen::page_down) == std::pair<std::size_t, std::size_t>(5, 2));
    CHECK(at(FullScreen::end) == std::pair<std::size_t, std::size_t>(9, 6));
    CHECK(at(FullScreen::down) == std::pair<std::size_t, std::size_t>(9, 6));
    CHECK(at(FullScreen::page_up) == std::pair<std::size_t, std::size_t>(5, 5));
    CHECK(at('x') == std::pair<std::size_t, std::size_t>(5, 5));
    CHECK(at(FullScreen::home) == std::pair<std::size_t, std::size_t>(0, 0));
    look.press(FullScreen::end, {}, 4);
    CHECK(look.cursor == 0);
}

TEST_CASE("top: a device is opened into its registers, and left again") {
    const std::vector<Rate> registers = {rate("uart FR", 3, 0, 1), rate("mmc FIFO", 2, 0, 1),
                                         rate("uart2 DR", 1, 0, 1), rate("uart DR", 0, 1, 1)};
    TopLook look;
    look.press(FullScreen::enter, devices, 10);
    CHECK(look.device == "uart");
    CHECK(look.table() == Key::reg);
    CHECK(names(look, registers) == "FR DR ");
    look.press(FullScreen::enter, registers, 10);
    CHECK(look.device == "uart");
    look.press(FullScreen::back, registers, 10);
    CHECK(look.table() == Key::device);
    look.press(FullScreen::enter, devices, 10);
    look.press('t', registers, 10);
    CHECK(look.table() == Key::task);
    look.press(FullScreen::enter, devices, 10);
    CHECK(look.device.empty()); // a task is not a device
}

TEST_CASE("top: the rates of a trace that has ended cover all of it") {
    view::TopCounts counts;
    abi::Record record{};
    record.type = abi::RecordType::access;
    for (std::uint64_t i = 1; i <= 4; ++i) {
        counts.add(given_event(record, {.nanoseconds = i * 500'000'000, .device = "uart"}));
        counts.look();
    }
    counts.look();
    CHECK(counts.rates({}).rows[0].per_second == 0);
    counts.look_at_all();
    CHECK(counts.rates({}).rows[0].per_second == Approx(2));
    CHECK(counts.head.per_second == Approx(2));
}

TEST_CASE("top: names beyond the first 512 are left out and told, and count in the total") {
    view::TopCounts counts;
    abi::Record record{};
    record.type = abi::RecordType::access;
    std::uint64_t time = 0;
    const auto access = [&](std::size_t device, std::size_t times) {
        const std::string name = fmt::format("d{:04}", device);
        for (std::size_t i = 0; i < times; ++i) {
            counts.add(given_event(record, {.nanoseconds = ++time, .device = name}));
        }
    };
    for (std::size_t i = 0; i < 600; ++i) {
        access(i, i == 300 ? 9 : 1);
    }
    counts.look();
    CHECK(counts.rates({}).rows.size() == 512);
    CHECK(counts.rates({}).total.count.reads == 608);
    CHECK(counts.rates({}).rows.front().name == "d0300");
    CHECK_THAT(view::top_screen(counts.head, {}, counts.rates({}), 24, 200)[1],
               Catch::StartsWith("... 88 accesses of devices beyond the first 512 are left out: "));

    const std::uint64_t before = time;
    access(590, 3);
    access(400, 2);
    counts.look();
    const double seconds = static_cast<double>(time - before) / 1e9;
    CHECK(counts.rates({}).rows.front().name == "d0400");
    CHECK(counts.rates({}).rows.front().count.reads == 3);
    CHECK(counts.rates({}).rows.front().per_second == Approx(2 / seconds));
    CHECK(counts.rates({}).rows[1].per_second == 0);
    CHECK(counts.rates({}).total.count.reads == 613);
    CHECK(counts.rates({}).total.per_second == Approx(5 / seconds));
}
