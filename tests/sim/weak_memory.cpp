#include "weak_memory.hpp"

#include <algorithm>
#include <cstring>

namespace mmioscope::sim {

namespace {
constexpr std::size_t versions_kept = 4;

std::uint64_t peek(const void* from, unsigned size) {
    std::uint64_t value = 0;
    std::memcpy(&value, from, size);
    return value;
}
} // namespace

void WeakMemory::store(unsigned cpu, void* to, std::uint64_t value, unsigned size) {
    Cpu& self = cpus_[cpu];
    self.stores.push_back({static_cast<std::byte*>(to), value, size, self.group, false, false});
}

void WeakMemory::store_halves(unsigned cpu, void* to, std::uint64_t value) {
    Cpu& self = cpus_[cpu];
    auto* low = static_cast<std::byte*>(to);
    self.stores.push_back({low, value & 0xffff'ffff, 4, self.group, false, false});
    self.stores.push_back({low + 4, value >> 32, 4, self.group, false, true});
}

void WeakMemory::store_payload(unsigned cpu, void* to, std::uint32_t value) {
    Cpu& self = cpus_[cpu];
    self.stores.push_back(
        {static_cast<std::byte*>(to), value, sizeof value, self.group, true, false});
}

bool WeakMemory::may_drain(const Cpu& cpu, std::size_t which) const {
    const Store& store = cpu.stores[which];
    for (std::size_t i = 0; i < which; ++i) {
        const Store& before = cpu.stores[i];
        if (before.overlaps(store.to, store.size) || before.group < store.group ||
            (store.second && before.to + before.size == store.to))
            return false;
    }
    return true;
}

void WeakMemory::drain(Cpu& cpu, std::size_t which) {
    const Store store = cpu.stores[which];
    cpu.stores.erase(cpu.stores.begin() + static_cast<std::ptrdiff_t>(which));
    if (!store.payload || old_payload_) remember(cpu, store);
    std::memcpy(store.to, &store.value, store.size);
}

void WeakMemory::remember(Cpu& cpu, const Store& store) {
    std::vector<Version>& versions = history_[store.to];
    const std::uint64_t before = peek(store.to, store.size);
    if (versions.empty() || versions.back().value != before) versions.assign(1, {0, before});
    versions.push_back({++time_, store.value});
    if (versions.size() > versions_kept) versions.erase(versions.begin());
    cpu.seen[store.to] = time_;
}

void WeakMemory::drain_one(unsigned cpu) {
    Cpu& self = cpus_[cpu];
    if (self.stores.empty()) return;
    const std::size_t which = random_.below(self.stores.size());
    if (may_drain(self, which)) drain(self, which);
}

void WeakMemory::drain_groups_before(Cpu& cpu, unsigned group) {
    while (!cpu.stores.empty() && cpu.stores.front().group < group) drain(cpu, 0);
}

void WeakMemory::drain_word(Cpu& cpu, const void* word, unsigned size) {
    const auto on_word = [word, size](const Store& s) { return s.overlaps(word, size); };
    while (std::any_of(cpu.stores.begin(), cpu.stores.end(), on_word)) drain(cpu, 0);
}

std::uint64_t WeakMemory::load(unsigned cpu, const void* from, unsigned size) {
    Cpu& self = cpus_[cpu];
    drain_groups_before(self, self.group);
    self.access = time_;
    for (auto s = self.stores.rbegin(); s != self.stores.rend(); ++s) {
        if (!s->overlaps(from, size)) continue;
        if (s->to == from && s->size == size) return s->value;
        drain_word(self, from, size);
        break;
    }
    const auto found = history_.find(from);
    const std::uint64_t latest = peek(from, size);
    if (found == history_.end() || found->second.back().value != latest) return latest;
    const std::vector<Version>& versions = found->second;
    std::uint64_t& seen = self.seen[from];
    const std::uint64_t bound = std::max(self.barrier, seen);
    std::size_t which = versions.size() - 1;
    while (which > 0 && versions[which].since > bound && random_.one_in(2)) --which;
    seen = std::max(bound, versions[which].since);
    return versions[which].value;
}

bool WeakMemory::exchange(unsigned cpu, std::uint32_t* word, std::uint32_t expected,
                          std::uint32_t desired) {
    Cpu& self = cpus_[cpu];
    drain_groups_before(self, self.group);
    drain_word(self, word, sizeof *word);
    if (*word != expected || random_.one_in(exclusives_fail_one_in_)) return false;
    self.stores.push_back(
        {reinterpret_cast<std::byte*>(word), desired, sizeof *word, self.group, false, false});
    drain(self, self.stores.size() - 1);
    self.access = time_;
    return true;
}

void WeakMemory::order(unsigned cpu, bool counter_read) {
    Cpu& self = cpus_[cpu];
    if (!self.stores.empty()) ++self.group;
    self.barrier = std::max(self.barrier, counter_read ? self.access : ++time_);
}

void WeakMemory::complete(unsigned cpu) {
    Cpu& self = cpus_[cpu];
    while (!self.stores.empty()) drain(self, 0);
    self.barrier = ++time_;
}

} // namespace mmioscope::sim
