// Text that may contain anything, in each format.
#include "catch_2_or_3.hpp"
#include "system/escape.hpp"
#include "table/table.hpp"

using namespace mmioscope;

namespace {

template <typename Append>
std::string text_of(const Append& append, std::string_view text) {
    fmt::memory_buffer to;
    append(to, text);
    return {to.data(), to.size()};
}

std::string json(std::string_view text) {
    return text_of([](auto& to, auto given) { append_json(to, given); }, text);
}
std::string csv(std::string_view text) {
    return text_of([](auto& to, auto given) { append_csv(to, given); }, text);
}

} // namespace

TEST_CASE("no control character and no byte that is not UTF-8 reaches a terminal") {
    CHECK(for_terminal("\33]0;X\a \x9b"
                       "31m \xc2\x85 \x7f \b \xff \xc0\x80 \xed\xa0\x80 a\tb\n") ==
          "?]0;X? ?31m ? ? ? ? ?? ??? a?b?");
    CHECK(for_terminal("Gerät \xe6\x97\xa5 \xf0\x9f\x98\x80") ==
          "Gerät \xe6\x97\xa5 \xf0\x9f\x98\x80");
    CHECK(lines_for_terminal("a\33[2J\n\tb\xff\r\n") == "a?[2J\n\tb??\n");
    CHECK(printable("Gerät") == "Ger??t");
    for (unsigned byte = 0; byte < 256; ++byte) {
        const std::string one(1, static_cast<char>(byte));
        const bool plain = byte >= 0x20 && byte < 0x7f;
        CHECK(for_terminal(one) == (plain ? one : "?"));
        for (const std::string& text : {json(one), csv(one), for_html(one)}) {
            CHECK(std::ranges::all_of(text, [byte](char c) {
                return (c >= ' ' && c <= '~') ||
                       (byte < ' ' && (c == '\n' || c == '\r' || c == '\t'));
            }));
        }
    }
}

TEST_CASE("JSON's strings and keys are escaped alike") {
    CHECK(json("a\"b\\c\n\33\xc2\x9b\xff") == "\"a\\\"b\\\\c\\u000a\\u001b\\u009b\\ufffd\"");
    fmt::memory_buffer to;
    to.push_back('{');
    table::append_json(to, "k\"\n\33", table::Cell(std::string_view("v\"")));
    CHECK(std::string(to.data(), to.size()) == "{\"k\\\"\\u000a\\u001b\":\"v\\\"\"");
}

TEST_CASE("a cell of CSV is no formula, and has no control character but line ends and tabs") {
    for (const char* formula : {"=1+1", "+1+1", "-1 ", "@SUM(A1)", "=A", "+cmd|'/C x'!A0"}) {
        CHECK(csv(formula) == std::string("'") + formula);
    }
    CHECK(csv("=A1,\"x\"") == "\"'=A1,\"\"x\"\"\"");
    for (const char* harmless : {"-", "=", "+0x018", "-17", "a=1"}) {
        CHECK(csv(harmless) == harmless);
    }
    CHECK(csv("a\nb\33\r") == "\"a\nb?\r\"");
    fmt::memory_buffer number;
    table::append_csv(number, table::Cell(std::uint64_t{7}));
    CHECK(std::string(number.data(), number.size()) == "7");
}
