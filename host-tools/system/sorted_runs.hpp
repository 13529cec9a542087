// Texts by key of which there are too many for memory: in temporary files, as runs in the order of
// their keys, which are read as one.
#pragma once

#include "system/file_descriptor.hpp"

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace mmioscope {

/// A key of a number: in the order of numbers.
std::string key_of(std::uint64_t number);
/// The number that `key` begins with.
std::uint64_t number_of(std::string_view key);

/// All here throws Error (failed) where a temporary file does not do what it should.
class SortedRuns {
public:
    /// Takes `other` into `value`: both were put for one key, in any order.
    using Join = void (*)(std::string& value, std::string_view other);
    /// False: no more are wanted.
    using Take = std::function<bool(std::string_view key, std::string_view value)>;

    explicit SortedRuns(Join join) : join_(join) {}

    bool empty() const { return levels_.empty(); }

    /// The next key of a run, which is greater than those before it in the run.
    void put(std::string_view key, std::string_view value);
    /// The run is whole. Whenever so many runs stand beside each other they become one: memory and
    /// the number of files grow with the logarithm of what was put.
    void end_run();
    static constexpr std::size_t most_beside = 8;

    /// Each key once, in ascending order, with what its values are together.
    void each(const Take& take) const;

private:
    struct Run {
        std::int64_t begin = 0; ///< in the level's file
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
    std::vector<Level> levels_; ///< runs of each are those of the one before, merged
    std::string unwritten_;     ///< of the run that is being put or merged
};

} // namespace mmioscope
