// A page that no browser would hold.
#include "catch_2_or_3.hpp"
#include "page/content.hpp"
#include "system/file_descriptor.hpp"

#include <unistd.h>

#include <string>

using namespace mmioscope;

TEST_CASE("page: a trace longer than a browser's longest text is refused with what to do",
          "[page]") {
    const FileDescriptor file = temporary_file();
    REQUIRE(::ftruncate(file.get(), 403'000'000) == 0);
    page::What what;
    what.name = "boot.mmio";
    what.trace.path = "/proc/self/fd/" + std::to_string(file.get());
    std::string written;
    const auto write = [&](std::string_view text) { written += text; };
    CHECK_THROWS_WITH(page::write_page(what, write),
                      Catch::Contains("boot.mmio, 403 MB of trace: choose a part by --from"));
    CHECK(written.empty());

    REQUIRE(::ftruncate(file.get(), 402'000'000) == 0); // read, but no trace
    CHECK_THROWS_WITH(page::write_page(what, write), !Catch::Contains("browser"));
}
