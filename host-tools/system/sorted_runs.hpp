// Texts by key, too many for memory: kept in temporary files as sorted runs, and read as one
// sequence.
#pragma once

#include "system/file_descriptor.hpp"

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace mmioscope {

/// A key for a number; keys sort like the numbers.
std::string key_of(std::uint64_t number);
/// The number at the start of `key`.
std::uint64_t number_of(std::string_view key);

/// All functions throw Error (failed) if a temporary file fails.
class SortedRuns {
public:
    /// Merges `other` into `value`, both for the same key, in any order.
    using Join = void (*)(std::string& value, std::string_view other);
    /// Returns false if no more are wanted.
    using Take = std::function<bool(std::string_view key, std::string_view value)>;

    explicit SortedRuns(Join join) : join_(join) {}

    bool empty() const { return levels_.empty(); }

    /// Adds a key to the current run, in ascending order.
    void put(std::string_view key, std::string_view value);
    /// Ends the current run. Merges most_beside runs of a level into one, so memory and the number
    /// of files grow only with the logarithm of the input.
    void end_run();
    static constexpr std::size_t most_beside = 8;

    /// Passes each key once, in ascending order, with its merged value.
    void each(const Take& take) const;

private:
    struct Run {
        std::int64_t begin = 0; ///< position in the level's file
        std::int64_t end = 0;
    };
    struct Level {
        FileDescriptor file;
        std::int64_t size = 0;
        std::vector<Run> runs;
    };
    class Reader;

    Level& level(std::size_t number);
    void write(Level& to, std::string_view key, std::string_view value);
    void end_run(std::size_t number);
    void merge(std::vector<Reader> readers, const Take& take) const;

    Join join_;
    std::vector<Level> levels_; ///< runs of each are merged runs of the one before
    std::string unwritten_;     ///< of the current run
};

} // namespace mmioscope
