// Invalid filters: one line that says where and why.
#include "filter/filter.hpp"
#include "sample_event.hpp"
#include "system/error.hpp"

using namespace mmioscope;
using filter::Filter;

namespace {

std::string complaint(const std::string& text, const filter::Settings& settings = {}) {
    try {
        Filter filter(text, settings);
    } catch (const Error& error) {
        CHECK(error.status() == Status::bad_input);
        CHECK(std::string(error.what()).find('\n') == std::string::npos);
        return error.what();
    }
    return "no error";
}

std::string repeated(const std::string& text, unsigned count) {
    std::string all;
    for (unsigned i = 0; i < count; ++i) {
        all += text;
    }
    return all;
}

} // namespace

TEST_CASE("a wrong filter is refused in one line with the place") {
    const std::vector<std::pair<const char*, const char*>> wrong = {
        {"dev==pl011 && reg==",
         "filter: column 20: expected a value after '==': dev==pl011 && reg==<here>"},
        {"", "filter: column 1: expected a condition: <here>"},
        {"r &&", "filter: column 5: expected a condition after '&&': r &&<here>"},
        {"valeu==1", "filter: column 1: there is no field 'valeu', did you mean 'value'?: "
                     "<here>valeu==1"},
        {"xyzzy==1", "filter: column 1: there is no field 'xyzzy': <here>xyzzy==1"},
        {"Time>1",
         "filter: column 1: there is no field 'Time', did you mean 'time'?: <here>Time>1"},
        {"(r", "filter: column 3: expected ')': (r<here>"},
        {"r)", "filter: column 2: expected && or ||: r<here>)"},
        {"r w", "filter: column 3: expected && or ||: r <here>w"},
        {"cpu=1", "filter: column 4: use '==' to compare: cpu<here>=1"},
        {"value==DR", "filter: column 8: 'DR' is not a 64-bit number: value==<here>DR"},
        {"value==0x1ffffffffffffffff", "filter: column 8: '0x1ffffffffffffffff' is not a 64-bit "
                                       "number: value==<here>0x1ffffffffffffffff"},
        {"time>1h",
         "filter: column 6: '1h' is not a time such as 1.5, 20ms, 3us or 7ns: time><here>1h"},
        {"time>99999999999s",
         "filter: column 6: '99999999999s' is not a time such as 1.5, 20ms, 3us or "
         "7ns: time><here>99999999999s"},
        {"type==fualt",
         "filter: column 7: 'fualt' is not a value of this field, did you mean 'fault'?: "
         "type==<here>fualt"},
        {"func<a", "filter: column 5: 'func' is a text; compare it with ==, !=, =~, !~ or in: "
                   "func<here><a"},
        {"func & 1", "filter: column 6: 'func' is a text, and has no bits: func <here>& 1"},
        {"cpu=~1", "filter: column 4: regular expressions are for texts, this is a number: "
                   "cpu<here>=~1"},
        {"func=~\"(\"", "filter: column 7: missing ): (: func=~<here>\"(\""},
        {"dev==\"abc", "filter: column 6: this quote is not closed: dev==<here>\"abc"},
        {"dev==a;b", "filter: column 7: put this character in quotes: dev==a<here>;b"},
        {"value in 5..4", "filter: column 10: this range ends before it begins: value in "
                          "<here>5..4"},
        {"value in (1 2)", "filter: column 13: expected ')': value in (1 <here>2)"},
        {"r not w", "filter: column 7: expected 'in' after 'not': r not <here>w"},
        {"@first", "filter: column 1: names with @ are filters of plug-ins, and no plug-in is "
                   "loaded (--plugin): "
                   "<here>@first"},
        {"value & x", "filter: column 9: 'x' is not a 64-bit number: value & <here>x"},
        {"a\nb==1", "filter: column 1: there is no field 'a', did you mean 'pa'?: <here>a?b==1"},
    };
    for (const auto& [text, expected] : wrong) {
        CHECK(complaint(text) == expected);
    }
}

TEST_CASE("a filter may be long, but only up to a limit") {
    CHECK(complaint(repeated("(", 50) + "r" + repeated(")", 50)) == "no error");
    CHECK(complaint(repeated("(", 60'000)).find("parentheses") != std::string::npos);
    CHECK(complaint(repeated("!", 60'000)).find("parentheses") != std::string::npos);
    CHECK(complaint("r" + repeated("&&r", 20'000)) == "no error");
    CHECK(complaint("r" + repeated("||r", 30'000)) == "filter: longer than 65536 characters");
    CHECK(complaint("func=~\"" + repeated("a", 2'000) + "\"").find("at most 1024 characters") !=
          std::string::npos);
    CHECK(complaint("func=~\"((a{1000}){1000}){1000}\"") != "no error");
}

TEST_CASE("globs and regular expressions take time bounded by their lengths") {
    test::SampleEvent sample;
    sample.code.function = repeated("a", 3'000);
    CHECK_FALSE(Filter("func==" + repeated("a*", 500) + "b")(sample.event()));
    CHECK_FALSE(Filter("func=~\"^(a*)*b$\"")(sample.event()));
}

TEST_CASE("fields about code are refused if code addresses are left out") {
    filter::Settings settings;
    settings.code = false;
    for (const char* const field : {"pc", "lr", "sp", "va", "func", "caller", "module", "file"}) {
        CHECK(complaint(std::string(field) + "==1 || r", settings) ==
              fmt::format("filter: column 1: '{0}' is about code, which --no-pc leaves out: "
                          "<here>{0}==1 || r",
                          field));
    }
    CHECK(complaint("dev==a && reg==b && task==c && pa==1", settings) == "no error");
}
