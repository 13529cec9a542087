// What a file says about its origin.
#include "catch_2_or_3.hpp"
#include "file/texts.hpp"

using namespace mmioscope::trace;

TEST_CASE("a command is one line that a shell reads back as the same command") {
    const char* const arguments[] = {"build/mmioscope",
                                     "run",
                                     "--append",
                                     "console=ttyAMA0 quiet",
                                     "it's",
                                     "",
                                     "two\nlines\\'",
                                     "-F",
                                     "dev==mmc && w",
                                     "a@b%"};
    CHECK(command_text(arguments) ==
          "build/mmioscope run --append 'console=ttyAMA0 quiet' 'it'\\''s' '' "
          "$'two\\x0alines\\\\\\'' -F 'dev==mmc && w' a@b%");
    CHECK(command_text({}).empty());
}

TEST_CASE("a file says when and by which command it was recorded; without a command, nothing") {
    using Catch::Matches;
    CHECK_THAT(
        origin_lines("mmioscope run"),
        Matches("recorded=20[0-9]{2}-[01][0-9]-[0-3][0-9]T[0-2][0-9]:[0-5][0-9]:[0-6][0-9]Z\n"
                "recorded-by=mmioscope run\n"));
    CHECK(origin_lines("").empty());
}
