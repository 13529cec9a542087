#include "registers.hpp"

namespace mmioscope::sim {

void Registers::write(Encoding which, std::uint64_t value, bool indirect) {
    pending_.push_back({which, value, indirect});
}

std::uint64_t Registers::read(Encoding which) const {
    for (auto w = pending_.rbegin(); w != pending_.rend(); ++w)
        if (w->which == which && !w->indirect) return w->value;
    return get(which);
}

std::optional<std::uint64_t> Registers::coming(Encoding which) const {
    for (auto w = pending_.rbegin(); w != pending_.rend(); ++w)
        if (w->which == which) return w->value;
    return std::nullopt;
}

void Registers::settle() {
    for (const Write& w : pending_) set(w.which, w.value);
    pending_.clear();
}

void Registers::settle_one(Random& random) {
    if (pending_.empty()) return;
    const Encoding which = pending_[random.below(pending_.size())].which;
    for (auto w = pending_.begin(); w != pending_.end(); ++w) {
        if (w->which != which) continue; // the first write of its register
        set(which, w->value);
        pending_.erase(w);
        return;
    }
}

} // namespace mmioscope::sim
