// A map by name, in the order of names: keeps a limited number of entries in memory, the rest in
// temporary files.
#pragma once

#include "system/sorted_runs.hpp"

#include <cstddef>
#include <functional>
#include <map>
#include <string>
#include <string_view>

namespace mmioscope {

/// T has add(), which merges another T of the same name, in any order. bytes_of() serialises it,
/// and T::of() restores it. A name may have several pieces until each() is called.
template <typename T>
class SpilledMap {
public:
    using Held = std::map<std::string, T, std::less<>>;

    explicit SpilledMap(std::size_t most) : most_(most), runs_(join) {}

    /// The piece of `name` in memory, or a new one. Valid until another one is created.
    T& of(std::string_view name) {
        auto found = held_.find(name);
        if (found == held_.end()) {
            if (full()) {
                spill();
            }
            found = held_.emplace(std::string(name), T()).first;
        }
        return found->second;
    }
    /// Whether a new name moves those in memory to files.
    bool full() const { return held_.size() >= most_; }

    bool empty() const { return held_.empty() && holds_all(); }
    /// Whether no part is in files.
    bool holds_all() const { return runs_.empty(); }
    const Held& held() const { return held_; }

    /// No more will come for a while: if a part is in files, moves the rest there, too.
    void settle() {
        if (!holds_all() && !held_.empty()) {
            spill();
        }
    }

    /// Calls `take` with each name, in ascending order, and its merged value, until it returns
    /// false.
    template <typename Take>
    void each(const Take& take) {
        settle();
        if (!holds_all()) {
            runs_.each([&take](std::string_view name, std::string_view bytes) {
                return take(name, T::of(bytes));
            });
            return;
        }
        for (const auto& [name, one] : held_) {
            if (!take(std::string_view(name), one)) {
                return;
            }
        }
    }

private:
    static void join(std::string& bytes, std::string_view other) {
        T both = T::of(bytes);
        both.add(T::of(other));
        bytes = both.bytes_of();
    }

    void spill() {
        for (const auto& [name, one] : held_) {
            runs_.put(name, one.bytes_of());
        }
        runs_.end_run();
        held_.clear();
    }

    std::size_t most_;
    Held held_;
    SortedRuns runs_;
};

} // namespace mmioscope
