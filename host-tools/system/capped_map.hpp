// A map of limited size: the keys that came first stay.
#pragma once

#include <fmt/format.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace mmioscope {

/// `Map` is a std::map or std::unordered_map. A key has its entry from its first use on, or never:
/// entries are exact. All keys without one share rest(): sums over both are exact, too.
template <typename Map>
class CappedMap {
public:
    using Value = typename Map::mapped_type;

    explicit CappedMap(std::size_t most) : most_(most) {}

    /// The entry of `key`, a new one while there is room, or rest(). It stays where it is.
    template <typename Key>
    Value& of(const Key& key) {
        const auto at = held_.find(key);
        if (at != held_.end()) [[likely]] {
            return at->second;
        }
        return held_.size() < most_ ? held_.try_emplace(typename Map::key_type(key)).first->second
                                    : rest_;
    }
    bool is_rest(const Value& value) const { return &value == &rest_; }

    Map& held() { return held_; }
    const Map& held() const { return held_; }
    const Value& rest() const { return rest_; }
    std::size_t most() const { return most_; }

private:
    std::size_t most_;
    Map held_;
    Value rest_{};
};

/// By name, in the order of names.
template <typename T>
using CappedNames = CappedMap<std::map<std::string, T, std::less<>>>;

/// Adds a line for the user to `lines`: the keys beyond the first `most` had `count` of `what`,
/// "accesses of tasks". Adds none if `count` is 0.
inline void add_left_out(std::vector<std::string>& lines, std::uint64_t count,
                         std::string_view what, std::size_t most) {
    if (count > 0) {
        lines.push_back(fmt::format("... {} {} beyond the first {} are left out: choose fewer "
                                    "(-F, --cpu, --from, --to)",
                                    count, what, most));
    }
}

} // namespace mmioscope
