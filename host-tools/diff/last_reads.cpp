#include "diff/last_reads.hpp"

namespace mmioscope::diff {

LastReads::Last& LastReads::find(const Key& key) {
    if (last_ == nullptr || key_ != key) {
        if (all_.size() == most) {
            all_.clear();
        }
        last_ = &all_[key];
        key_ = key;
    }
    return *last_;
}

LastReads::Found LastReads::next(analysis::Thread thread, const abi::Record& record,
                                 std::uint32_t site, std::uint32_t wrote) {
    if ((record.flags & abi::flag_value_unknown) != 0) {
        return {};
    }
    Last& last = find({abi::physical_address(record), thread});
    if (abi::is_write(record)) {
        last.written = record.value;
        last.site = site;
        return {last.read, 0};
    }
    last.read = record.value;
    return {std::nullopt, last.site == wrote ? last.written & ~record.value : 0};
}

} // namespace mmioscope::diff
