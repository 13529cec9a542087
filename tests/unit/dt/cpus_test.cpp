#include "dt/cpus.hpp"

#include "catch_2_or_3.hpp"
#include "sim/board_tree.hpp"

#include <libfdt.h>

using namespace mmioscope;
using namespace mmioscope::sim;

namespace {

using Reg = std::vector<std::uint32_t>;

/// A tree whose CPUs have these cells in `reg`.
class Cpus {
public:
    explicit Cpus(const std::vector<Reg>& regs)
        : blob_(with_room(make_board_tree({.cpus = static_cast<unsigned>(regs.size())}))) {
        for (unsigned n = 0; n < regs.size(); ++n) {
            std::vector<fdt32_t> cells;
            for (const std::uint32_t cell : regs[n]) cells.push_back(cpu_to_fdt32(cell));
            REQUIRE(fdt_setprop(blob_.data(), node(n), "reg", cells.data(),
                                static_cast<int>(4 * cells.size())) == 0);
        }
    }
    Cpus& failed(unsigned n) {
        REQUIRE(fdt_setprop_string(blob_.data(), node(n), "status", "fail") == 0);
        return *this;
    }
    /// "2" for two CPUs, or the error and the CPU concerned.
    std::string answer() const {
        unsigned count = 0;
        const BootError error = count_cpus(tree_of(blob_), count);
        if (!error) return std::to_string(count);
        return std::string(error.what).substr(0, 9) + "... " + error.subject;
    }

private:
    int node(unsigned n) const {
        return fdt_path_offset(blob_.data(), ("/cpus/cpu@" + std::to_string(n)).c_str());
    }
    Blob blob_;
};

} // namespace

TEST_CASE("CPUs with the numbers 0, 1, 2 ... are counted, whatever their cluster") {
    CHECK(Cpus({Reg{0}}).answer() == "1");
    CHECK(Cpus({{0}, {1}, {2}, {3}}).answer() == "4");
    CHECK(Cpus({{1}, {0}}).answer() == "2");
    CHECK(Cpus({{0xf00}, {0xf01}}).answer() == "2"); // AST2600
    CHECK(Cpus({{0, 0}, {0, 1}}).answer() == "2");   // two cells for an address
    CHECK(Cpus({Reg{}}).answer() == "1");
    CHECK(Cpus({{0}, {1}, {0x100}}).failed(2).answer() == "2");
}

TEST_CASE("CPUs that the hypervisor cannot tell apart are refused") {
    CHECK(Cpus({{0}, {1}, {0x100}, {0x101}}).answer() == "two CPUs'... cpu@2");
    CHECK(Cpus({{0}, {0x100}}).answer() == "two CPUs'... cpu@1");
    CHECK(Cpus({{}, {}}).answer() == "two CPUs'... cpu@1");
}

TEST_CASE("a CPU with a number beyond the count of CPUs is refused") {
    CHECK(Cpus({{0}, {2}}).answer() == "the last ... cpu@1");
    CHECK(Cpus({{0x100}, {0x103}}).answer() == "the last ... cpu@1");
    CHECK(Cpus({{0}, {1}}).failed(0).answer() == "the last ... cpu@1");
    CHECK(Cpus({{0}, {1}}).failed(0).failed(1).answer() == "the devic... ");
}
