// Things by name, in the order of names: so many of them in memory, what is more in temporary
// files.
#pragma once

#include "system/sorted_runs.hpp"

#include <cstddef>
#include <functional>
#include <map>
#include <string>
#include <string_view>

namespace mmioscope {

/// A T has add(), which takes another one of the same name in, in any order; bytes_of() tells it as
/// bytes, and T::of() makes it of them. What is said of a name may be in several pieces until all
/// is asked for.
template <typename T>
class SpilledMap {
public:
    using Held = std::map<std::string, T, std::less<>>;

    explicit SpilledMap(std::size_t most) : most_(most), runs_(join) {}

    /// The piece of `name` that is in memory, or a new one. It is there until another is new.
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
    /// What is new takes those in memory away.
    bool full() const { return held_.size() >= most_; }

    bool empty() const { return held_.empty() && holds_all(); }
    /// Nothing is in files.
    bool holds_all() const { return runs_.empty(); }
    const Held& held() const { return held_; }

    /// Nothing more comes for a while: where a part is in files, the rest goes there, too.
    void settle() {
        if (!holds_all() && !held_.empty()) {
            spill();
        }
    }

    /// Calls `take` with each name, in ascending order, and all that is said of it, until that
    /// returns false.
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
