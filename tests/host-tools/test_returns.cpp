// Which call a return ends (records/returns.hpp).
#include "records.hpp"
#include "records/returns.hpp"

#include <vector>

using namespace mmioscope;

namespace {

constexpr std::uint32_t f = 0xc0100000, g = 0xc0200000, site = 0xc0300010, other_site = 0xc0300020;
constexpr std::uint32_t stack = 0xe0803f00;

abi::Record call(std::uint64_t time, std::uint32_t pc, std::uint32_t sp, std::uint32_t lr = site) {
    abi::Record record{};
    record.type = abi::RecordType::call;
    record.flags = abi::flag_returns;
    record.time = time;
    record.pc = pc;
    record.lr = lr;
    record.sp = sp;
    return record;
}
abi::Record ret(std::uint64_t time, std::uint32_t sp, std::uint32_t lr = site) {
    abi::Record record = call(time, lr, sp, lr);
    record.type = abi::RecordType::ret;
    record.flags = 0;
    return record;
}

/// The PC and the duration of each return.
std::vector<std::pair<std::uint32_t, std::uint32_t>>
ended(const std::vector<abi::Record>& records) {
    std::vector<std::pair<std::uint32_t, std::uint32_t>> found;
    trace::Returns returns;
    for (const abi::Record& record : returns.completed(records)) {
        if (record.type == abi::RecordType::ret) {
            found.emplace_back(record.pc, record.duration);
        }
    }
    return found;
}
using Ended = std::vector<std::pair<std::uint32_t, std::uint32_t>>;

} // namespace

TEST_CASE("a return ends the call with its stack pointer and return address") {
    constexpr std::uint32_t deeper = stack - 16, other_stack = stack + 8192;
    CHECK(ended({call(10, f, stack), ret(15, stack)}) == Ended{{f, 5}});
    // inside each other, on two stacks, whatever the CPU
    CHECK(ended({call(1, f, stack), call(2, g, other_stack), call(3, g, deeper, other_site),
                 ret(5, deeper, other_site), ret(6, other_stack), ret(7, stack)}) ==
          Ended{{g, 2}, {g, 4}, {f, 6}});
    // the same function in itself
    CHECK(ended({call(1, f, stack), call(2, f, deeper), ret(4, deeper), ret(8, stack)}) ==
          Ended{{f, 2}, {f, 7}});
    // nobody was called: the guest came there by another way
    CHECK(ended({ret(1, stack)}) == Ended{{site, 0}});
    CHECK(ended({call(1, f, stack), ret(2, deeper), ret(3, stack, other_site), ret(4, stack)}) ==
          Ended{{site, 0}, {other_site, 0}, {site, 0}});
    // no record of the return will come
    abi::Record without = call(1, f, stack);
    without.flags = 0;
    CHECK(ended({without, ret(2, stack)}) == Ended{{site, 0}});
}

TEST_CASE("a function that goes on to another one by a branch returns for both") {
    CHECK(ended({call(1, f, stack), call(3, g, stack), ret(6, stack), ret(7, stack)}) ==
          Ended{{f, 5}, {site, 0}});
}

TEST_CASE("calls that were left without a return are forgotten") {
    constexpr std::uint32_t deeper = stack - 16;
    // what is above has gone on
    CHECK(ended({call(1, f, deeper), call(2, g, stack), ret(3, stack), ret(4, deeper)}) ==
          Ended{{g, 1}, {site, 0}});
    // the same place, called from elsewhere; then again from there
    CHECK(ended({call(1, f, stack), call(2, f, stack, other_site), ret(3, stack)}) ==
          Ended{{site, 0}});
    CHECK(ended({call(1, f, stack), call(10, f, stack), ret(12, stack)}) == Ended{{f, 2}});
}
