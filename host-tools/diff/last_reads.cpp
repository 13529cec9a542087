#include "diff/last_reads.hpp"

namespace mmioscope::diff {

LastReads::Found LastReads::next(analysis::Thread thread, const abi::Record& record,
                                 std::uint32_t site, std::uint32_t wrote) {
    if ((record.flags & abi::flag_value_unknown) != 0) {
        return {};
    }
    if (last_.size() == most) {
        last_.clear();
    }
    Last& last = last_[{abi::physical_address(record), thread}];
    if (abi::is_write(record)) {
        last.written = record.value;
        last.site = site;
        return {last.read, 0};
    }
    last.read = record.value;
    return {std::nullopt, last.site == wrote ? last.written & ~record.value : 0};
}

} // namespace mmioscope::diff
