// What mmioscope-guest record writes to a file: its verdict is of what can be read back.
#include "../../guest-linux/program/file_output.hpp"
#include "fake_area.hpp"
#include "recorder_process.hpp"

using namespace mmioscope;
using namespace mmioscope::test;

namespace {

/// Records two events to `path`, which somebody harms before the end. Returns the doubt.
std::string doubt_of(const std::string& path, const std::function<void()>& harm) {
    FakeArea memory(1, 16);
    guest::FileOutput output(path, create_output(path), rings::Area(memory.bytes()), "kernel=k\n");
    output.append(std::vector{access(0, 0, 10), access(0, 1, 20)});
    output.flush();
    harm();
    const trace::LossCounter none(1);
    output.finish({abi::Ending::interrupted, none, {{}}, {2}, ""});
    return output.doubt();
}

} // namespace

TEST_CASE("the guest's recorder reads back what it has written") {
    const Folder folder;
    const std::string path = folder / "t.mmio";
    CHECK(doubt_of(path, [] {}).empty());
    CHECK(doubt_of("/dev/null", [] {}).empty());
    CHECK_THAT(doubt_of(path, [&] { std::filesystem::resize_file(path, 100); }),
               Catch::Contains("t.mmio was changed"));
    CHECK_THAT(doubt_of(path, [&] { std::ofstream(path, std::ios::in).put('x'); }),
               Catch::Contains("other bytes"));
    CHECK_THAT(doubt_of(path, [&] { std::filesystem::remove(path); }),
               Catch::Contains("t.mmio was removed"));
}
