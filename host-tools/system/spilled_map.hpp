// A map by name, in the order of names: keeps a limited number of entries in memory, the rest in
// temporary files.
#pragma once

#include "system/sorted_runs.hpp"

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <type_traits>

namespace mmioscope {

/// A T has add(), which takes another one of the same name in, in any order. One that cannot be
/// copied as bytes has bytes_of(), which tells it as bytes, and T::of(), which makes it of them.
/// A name's value may be in several pieces until all are read.
template <typename T>
class SpilledMap {
public:
    using Held = std::map<std::string, T, std::less<>>;

    explicit SpilledMap(std::size_t most) : most_(most), runs_(join) {}

    /// The piece of `name` in memory, or a new one. Valid until another one is created.
    T& of(std::string_view name) {
        auto at = held_.lower_bound(name);
        if (at == held_.end() || at->first != name) {
            if (full()) {
                spill();
                at = held_.end();
            }
            at = held_.emplace_hint(at, std::string(name), T()); // it knows where
        }
        return at->second;
    }
    /// Whether a new name moves those in memory to files.
    bool full() const { return held_.size() >= most_; }
    /// How often they were: references to pieces from before are invalid.
    std::uint64_t spills() const { return spills_; }

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
                return take(name, of_bytes(bytes));
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
        T both = of_bytes(bytes);
        both.add(of_bytes(other));
        bytes = bytes_of(both);
    }

    static auto bytes_of(const T& one) {
        if constexpr (std::is_trivially_copyable_v<T>) {
            return std::string_view(reinterpret_cast<const char*>(&one), sizeof one);
        } else {
            return one.bytes_of();
        }
    }
    static T of_bytes(std::string_view bytes) {
        if constexpr (std::is_trivially_copyable_v<T>) {
            T one;
            std::memcpy(&one, bytes.data(), sizeof one);
            return one;
        } else {
            return T::of(bytes);
        }
    }

    void spill() {
        for (const auto& [name, one] : held_) {
            runs_.put(name, bytes_of(one));
        }
        runs_.end_run();
        held_.clear();
        ++spills_;
    }

    std::size_t most_;
    Held held_;
    SortedRuns runs_;
    std::uint64_t spills_ = 0;
};

} // namespace mmioscope
