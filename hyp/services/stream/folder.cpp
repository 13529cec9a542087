#include "stream/folder.hpp"

namespace mmioscope {

void Folder::forget() {
    base_ = {};
    count_ = 0;
}

bool Folder::add(const abi::Record& record) {
    const abi::Record& before = count_ == 0 ? base_ : last_;
    if (!repeats(before, record)) return false;
    const std::uint64_t step = units(record.time) - units(before.time);
    const bool even =
        count_ == 0 || (step == step_ && units(record.duration) == units(last_.duration));
    if (!even && how_ == abi::Fold::steps) return false;
    if (count_ == 0) step_ = step;
    exact_ = even && (count_ == 0 || exact_);
    last_ = record;
    ++count_;
    return true;
}

abi::Record Folder::take() {
    abi::Record fold = last_;
    fold.type = abi::RecordType::fold;
    fold.value = count_;
    fold.cpu_sequence = base_.cpu_sequence + 1;
    fold.commit = base_.commit + 1;
    fold.lock_sequence = base_.lock_sequence + 1;
    if (!exact_) fold.flags |= abi::flag_estimated;
    count_ = 0;
    return fold;
}

} // namespace mmioscope
