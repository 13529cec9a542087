// The variables of the guest's kernel are registers of its memory.
#include "catch_2_or_3.hpp"
#include "reading/variables.hpp"

using namespace mmioscope;

namespace {

reading::Variables variables_of(const symbols::SymbolList& symbols) {
    return reading::Variables(
        std::make_shared<const std::vector<std::byte>>(symbols::pack(symbols)));
}

} // namespace

TEST_CASE("an address in memory is that of the variable that begins there or before") {
    constexpr std::uint32_t memory = 0xc000'0000; // virtual
    auto variables = variables_of({{0xc020'8000, 'T', "start_kernel", ""},
                                   {0xc17a'0000, 'B', "lock", ""},
                                   {0xc17a'0008, 'T', "text", ""},
                                   {0xc17a'0008, 'd', "list", ""},
                                   {0xc17a'0010, 'A', "end", ""}});
    const auto name = [&](std::uint32_t va) {
        const Register* const found = variables.find(va, va - memory);
        return found == nullptr ? "" : found->name;
    };
    CHECK(name(0xc17a'0000) == "lock");
    CHECK(name(0xc17a'0007) == "lock");
    CHECK(name(0xc17a'0008) == "list"); // not the code that is there, too
    CHECK(name(0xc17a'0010) == "");
    CHECK(name(0xc020'8004) == "");
    CHECK(name(0xc000'0000) == "");
    const Register* const lock = variables.find(0xc17a'0004, 0x17a'0004);
    REQUIRE(lock != nullptr);
    CHECK(lock->offset == 0x17a'0000);
    CHECK(lock->size == 8);
    CHECK(lock == variables.find(0xc17a'0000, 0x17a'0000));
    CHECK(variables.find(0xc17a'0004, 3) == nullptr); // it would begin before the memory
    CHECK(reading::Variables(nullptr).find(0xc17a'0000, 0x17a'0000) == nullptr);
}
