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
        : regs_(regs),
          blob_(with_room(make_board_tree({.cpus = static_cast<unsigned>(regs.size())}))) {
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
    Cpus& with_firmware() {
        const int root = fdt_add_subnode(blob_.data(), 0, "psci");
        REQUIRE(fdt_setprop_string(blob_.data(), root, "compatible", "arm,psci-0.2") == 0);
        return *this;
    }
    BootError read(std::optional<std::uint32_t> boot, arch::Clusters& out) const {
        return read_cpus(tree_of(blob_), boot, out);
    }
    /// "0 1" for two CPUs with these numbers, in the tree's order, or the error and the CPU
    /// concerned. `boot` is CPU 0's MPIDR.
    std::string answer(std::optional<std::uint32_t> boot = 0x8000'0000) const {
        arch::Clusters clusters{};
        const BootError error = read(boot, clusters);
        if (error) return std::string(error.what).substr(0, 9) + "... " + error.subject;
        std::string numbers;
        for (const Reg& reg : regs_) {
            if (reg.empty()) continue;
            numbers += numbers.empty() ? "" : " ";
            numbers += std::to_string(clusters.number_of(0x8000'0000 | reg.back()));
        }
        return numbers + " of " + std::to_string(clusters.count());
    }

private:
    int node(unsigned n) const {
        return fdt_path_offset(blob_.data(), ("/cpus/cpu@" + std::to_string(n)).c_str());
    }
    std::vector<Reg> regs_;
    Blob blob_;
};

} // namespace

TEST_CASE("CPUs with the numbers 0, 1, 2 ... are counted, whatever their cluster") {
    CHECK(Cpus({Reg{0}}).answer() == "0 of 1");
    CHECK(Cpus({{0}, {1}, {2}, {3}}).answer() == "0 1 2 3 of 4");
    CHECK(Cpus({{1}, {0}}).answer() == "1 0 of 2");
    CHECK(Cpus({{0xf00}, {0xf01}}).answer(0x8000'0f00) == "0 1 of 2"); // AST2600
    CHECK(Cpus({{0xf00}, {0xf01}}).answer({}) == "0 1 of 2");
    CHECK(Cpus({{0, 0}, {0, 1}}).answer() == "0 1 of 2"); // two cells for an address
    CHECK(Cpus({Reg{}}).answer() == " of 1");
    CHECK(Cpus({{0}, {1}, {0x100}}).failed(2).answer() == "0 1 2 of 2");
}

TEST_CASE("a tree's only cluster is CPU 0's, whatever its MPIDR says") {
    CHECK(Cpus({{0}, {1}}).answer(0x8000'0900) == "2 2 of 2");
    CHECK(Cpus({{0x900}, {0x901}}).answer() == "2 2 of 2");
    // PSCI's calls name a CPU as the tree does, or by its MPIDR.
    for (const std::uint32_t in_tree : {0u, 0x300u}) {
        arch::Clusters clusters{};
        REQUIRE(!Cpus({{in_tree}, {in_tree | 1}}).read(0x8000'0900, clusters));
        CHECK(clusters.named(in_tree | 1) == 1);
        CHECK(clusters.named(0x901) == 1);
        for (const std::uint32_t none :
             {in_tree | 2, 0x201u, 0x1'0000u | in_tree, 0x8000'0000u | in_tree})
            CHECK(clusters.named(none) == 2);
    }
}

TEST_CASE("CPUs of two clusters are numbered from CPU 0's on") {
    const Cpus both = Cpus({{0x100}, {0x101}, {0x102}, {0}, {1}}).with_firmware();
    CHECK(both.answer(0x8000'0100) == "0 1 2 3 4 of 5");
    CHECK(both.answer({}) == "0 1 2 3 4 of 5");
    CHECK(both.answer(0x8000'0000) == "2 3 4 0 1 of 5");
    const arch::Clusters clusters{3, 1, 2, 0};
    for (unsigned n = 0; n < 5; ++n) CHECK(clusters.number_of(clusters.affinity_of(n)) == n);
    for (const std::uint32_t none : {2u, 0x103u, 0x200u, 0x1'0000u, 0xffff'ffffu})
        CHECK(clusters.number_of(none) == 5);
}

TEST_CASE("CPUs of two clusters without firmware are refused") {
    CHECK(Cpus({{0}, {1}, {0x100}, {0x101}}).answer() == "two clust... cpu@2");
    CHECK(Cpus({{0}, {0x100}}).answer(0x8000'0100) == "two clust... cpu@0");
}

TEST_CASE("CPUs that the hypervisor cannot tell apart are refused") {
    CHECK(Cpus({{0}, {0x100}, {0x200}}).with_firmware().answer() == "the CPUs'... cpu@2");
    CHECK(Cpus({{0}, {0x100}, {0x100}}).with_firmware().answer() == "two CPUs ... cpu@2");
    CHECK(Cpus({{0}, {1}, {1}, {0x100}}).with_firmware().answer() == "two CPUs ... cpu@2");
    CHECK(Cpus({{}, {}}).answer() == "two CPUs ... cpu@1");
}

TEST_CASE("CPUs that differ in Aff2 are refused") {
    CHECK(Cpus({{0}, {0x1'0001}}).with_firmware().answer() == "a CPU's r... cpu@1");
    CHECK(Cpus({{0x1'0000}, {0x1'0001}}).answer() == "a CPU's r... cpu@0");
    CHECK(Cpus({{0}, {0x100}, {0x1'0000}}).with_firmware().answer() == "a CPU's r... cpu@2");
}

TEST_CASE("a CPU with a number beyond the count of CPUs is refused") {
    CHECK(Cpus({{0}, {2}}).answer() == "the last ... cpu@1");
    CHECK(Cpus({{0x100}, {0x103}}).answer() == "the last ... cpu@1");
    CHECK(Cpus({{0}, {1}}).failed(0).answer() == "the last ... cpu@1");
    CHECK(Cpus({{0}, {1}}).failed(0).failed(1).answer() == "the devic... ");
    CHECK(Cpus(std::vector<Reg>(9, Reg{0})).answer() == "more CPUs... cpu@8");
}
