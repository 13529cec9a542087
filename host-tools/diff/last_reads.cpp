#include "diff/last_reads.hpp"

namespace mmioscope::diff {

std::optional<std::uint64_t> LastReads::next(analysis::Thread thread, const abi::Record& record) {
    const Key key{abi::physical_address(record), thread};
    if (abi::is_write(record)) {
        const auto found = last_.find(key);
        return found == last_.end() ? std::nullopt : std::optional(found->second);
    }
    if ((record.flags & abi::flag_value_unknown) == 0) {
        if (last_.size() == most) {
            last_.clear();
        }
        last_.insert_or_assign(key, record.value);
    }
    return std::nullopt;
}

} // namespace mmioscope::diff
