// An output that is an input under any name is refused and stays unchanged; devices may be both.
#include "system/error.hpp"
#include "system/replaced_file.hpp"
#include "wires.hpp"

#include <sys/stat.h>

#include <fstream>

using namespace mmioscope;
using namespace mmioscope::test;
using Catch::Equals;

TEST_CASE("an output that is also an input is refused under any of its names") {
    const Folder folder;
    const std::string trace = folder / "trace";
    const std::string other = folder / "other";
    std::ofstream(trace) << "a trace";
    std::ofstream(other) << "a trace";
    std::filesystem::create_symlink(trace, folder / "symbolic");
    std::filesystem::create_hard_link(trace, folder / "hard");
    for (const char* name : {"trace", "symbolic", "hard", "./trace"}) {
        const std::string output = folder / name;
        CHECK_THROWS_WITH(check_distinct(output, {other, trace}),
                          Equals(output + ": is also an input; choose another output"));
        CHECK_THROWS_AS(check_distinct(trace, {output}), Error);
    }
    CHECK(std::filesystem::file_size(trace) == 7);
}

TEST_CASE("other outputs, and inputs that do not exist, are accepted") {
    const Folder folder;
    const std::string trace = folder / "trace";
    const std::string other = folder / "other";
    std::ofstream(trace) << "a trace";
    std::ofstream(other) << "a trace";
    CHECK_NOTHROW(check_distinct(other, {trace}));
    CHECK_NOTHROW(check_distinct(folder / "new", {trace, "", folder / "nothing", "tcp:x:1"}));
    CHECK_NOTHROW(check_distinct("", {"", trace}));
}

TEST_CASE("a device or a pipe may be both input and output") {
    const Folder folder;
    const std::string pipe = folder / "pipe";
    REQUIRE(::mkfifo(pipe.c_str(), 0600) == 0);
    CHECK_NOTHROW(check_distinct(pipe, {pipe}));
    CHECK_NOTHROW(check_distinct("/dev/null", {"/dev/null"}));
}
