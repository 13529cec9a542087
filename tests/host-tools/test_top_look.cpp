// The keys of `top`.
#include "view/full_screen.hpp"
#include "view/top_counts.hpp"

#include "given_event.hpp"

#include <catch2/catch.hpp>

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
    std::string all;
    for (const Rate& row : look.shown(rates)) {
        all += row.name + ' ';
    }
    return all;
}

} // namespace

TEST_CASE("top: o chooses the order, and all come again") {
    TopLook look;
    std::vector<std::string> orders;
    for (int i = 0; i < 6; ++i) {
        orders.push_back(std::string(view::order_text(look.order)) + ": " + names(look, devices));
        look.press('o', devices, 10);
    }
    CHECK(orders == std::vector<std::string>{"rate: uart mmc uart2 ", "reads: uart mmc uart2 ",
                                             "writes: mmc uart uart2 ", "time: uart2 uart mmc ",
                                             "name: mmc uart uart2 ", "rate: uart mmc uart2 "});
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
    look.press(FullScreen::enter, look.shown(registers), 10);
    CHECK(look.device == "uart");
    look.press(FullScreen::back, look.shown(registers), 10);
    CHECK(look.table() == Key::device);
    look.press(FullScreen::enter, devices, 10);
    look.press('t', registers, 10);
    CHECK(look.table() == Key::task);
    look.press(FullScreen::enter, devices, 10);
    CHECK(look.device.empty()); // a task is not a device
}

TEST_CASE("top: of a trace that has ended rates are of all of it") {
    view::TopCounts counts;
    abi::Record record{};
    record.type = abi::RecordType::access;
    for (std::uint64_t i = 1; i <= 4; ++i) {
        counts.add(given_event(record, {.nanoseconds = i * 500'000'000, .device = "uart"}));
        counts.look();
    }
    counts.look();
    CHECK(counts.rates(Key::device)[0].per_second == 0);
    counts.look_at_all();
    CHECK(counts.rates(Key::device)[0].per_second == Approx(2));
    CHECK(counts.head.per_second == Approx(2));
}
