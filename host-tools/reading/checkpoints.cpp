#include "reading/checkpoints.hpp"

#include <algorithm>
#include <utility>

namespace mmioscope::reading {

void Checkpoints::add(Checkpoint checkpoint) {
    all_.push_back(std::move(checkpoint));
    while (all_.size() > 1 && (all_.size() > most || bytes() > most_bytes)) {
        std::size_t kept = 0;
        for (std::size_t i = 0; i < all_.size(); i += 2) {
            std::swap(all_[kept++], all_[i]);
        }
        all_.resize(kept);
        between_ *= 2;
    }
}

const Checkpoint& Checkpoints::in_front_of(const std::function<bool(const Checkpoint&)>& behind) {
    used_ = true;
    return *std::prev(std::find_if(all_.begin() + 1, all_.end(), behind));
}

std::size_t Checkpoints::bytes() const {
    constexpr std::size_t of_value = 64; // overhead of a map node on the heap
    std::size_t bytes = 0;
    for (std::size_t i = 1; i < all_.size(); ++i) {
        bytes += sizeof all_[i] + all_[i].markers.bytes() +
                 all_[i].place.learnt.bytes_beside(all_[i - 1].place.learnt);
        for (const auto& [device, values] : all_[i].held) {
            bytes += of_value * (1 + values.size());
        }
    }
    return bytes;
}

} // namespace mmioscope::reading
