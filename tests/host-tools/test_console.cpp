// The guest's console as a part of the trace: its content, and its limits.
#include "catch_2_or_3.hpp"
#include "file/console_text.hpp"
#include "reading_all.hpp"

#include <random>

using namespace mmioscope;
using namespace mmioscope::test;
using namespace std::chrono_literals;

namespace {

std::vector<std::byte> piece(std::uint64_t time, std::string_view text) {
    const trace::ConsoleHeader header{time, text.size()};
    std::vector<std::byte> payload(sizeof header + text.size());
    std::memcpy(payload.data(), &header, sizeof header);
    std::memcpy(payload.data() + sizeof header, text.data(), text.size());
    return payload;
}

} // namespace

TEST_CASE("the console's lines have the time of their first byte") {
    trace::ConsoleText text;
    text.add(piece(5, "one\r\ntw"));
    text.add(piece(9, "o\n"));
    text.add(piece(11, "\nlast"));
    REQUIRE(text.lines().size() == 4);
    CHECK(text.lines()[0].text == "one");
    CHECK(text.lines()[1].text == "two");
    CHECK(text.lines()[1].time == 5);
    CHECK(text.lines()[2].text.empty());
    CHECK(text.lines()[3].text == "last");
    CHECK(text.lines()[3].time == 11);
}

TEST_CASE("a console section may have several pieces, and a piece that is not whole is dropped") {
    std::vector<std::byte> payload = piece(5, "one\n");
    for (const std::vector<std::byte>& more : {piece(7, ""), piece(9, "two\n"), piece(11, "x")}) {
        payload.insert(payload.end(), more.begin(), more.end());
    }
    payload.pop_back();
    trace::ConsoleText text;
    text.add(payload);
    text.add(piece(13, "three"));
    REQUIRE(text.lines().size() == 3);
    CHECK(text.lines()[0].time == 5);
    CHECK(text.lines()[1].time == 9);
    CHECK(text.lines()[1].text == "two");
    CHECK(text.lines()[2].text == "three");
}

TEST_CASE("a console section may hold any bytes, and any number of them") {
    trace::ConsoleText text;
    text.add({});
    text.add(std::vector<std::byte>(7));
    CHECK(text.empty());
    std::mt19937 random(1);
    std::string noise(100'000, ' ');
    std::generate(noise.begin(), noise.end(), [&] { return static_cast<char>(random()); });
    for (unsigned i = 0; i < 200; ++i) {
        text.add(piece(i, noise));
    }
    std::size_t bytes = 0;
    for (const auto& line : text.lines()) {
        bytes += line.text.size();
    }
    CHECK(bytes <= trace::max_console);
    CHECK(bytes > trace::max_console / 10 * 9);
    trace::ConsoleText lines;
    for (unsigned i = 0; i < 20; ++i) {
        lines.add(piece(i, std::string(100'000, '\n')));
    }
    CHECK(lines.lines().size() == trace::max_console_lines);
}

TEST_CASE("a recorder keeps a bounded amount of the console") {
    const FileDescriptor file = memory_file("trace", 0);
    trace::WriteProgress progress;
    trace::FileWriter writer(file.get(), progress);
    trace::ConsoleWriter console(writer, 1'000'000);
    const std::vector<std::byte> much(1 << 20, std::byte{'x'});
    for (unsigned i = 0; i < 40; ++i) {
        console.add(much);
    }
    CHECK(writer.size() > trace::max_console);
    CHECK(writer.size() < trace::max_console + (1 << 20));
}

TEST_CASE("the record that was read with the least delay sets the guest's counter") {
    const trace::CounterClock::Moment start{};
    trace::CounterClock clock(1000);
    CHECK(!clock.at(start));
    clock.see(5000, start + 2s); // made at 5 s of the guest's time, read later
    CHECK(clock.at(start + 3s) == 6000);
    clock.see(6500, start + 3s); // half a second faster
    CHECK(clock.at(start + 4s) == 7500);
    clock.see(7000, start + 4s); // and this one slower
    CHECK(clock.at(start + 4s) == 7500);
    for (const std::uint64_t nonsense : {UINT64_MAX, std::uint64_t{INT64_MAX}}) {
        clock.see(nonsense, start + 5s);
        CHECK(clock.at(start + 6s) == 9500);
    }
}
