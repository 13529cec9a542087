#include "system/sorted_runs.hpp"

#include "system/error.hpp"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <span>

namespace mmioscope {

namespace {

constexpr std::size_t written_at_once = 1 << 14;
constexpr std::size_t read_at_once = 1 << 12;

using Sizes = std::array<std::uint32_t, 2>; ///< precedes a key and its value

} // namespace

std::string key_of(std::uint64_t number) {
    std::string bytes;
    for (unsigned shift = 64; shift > 0; shift -= 8) {
        bytes.push_back(static_cast<char>(number >> (shift - 8)));
    }
    return bytes;
}

std::uint64_t number_of(std::string_view key) {
    std::uint64_t number = 0;
    for (const char byte : key.substr(0, sizeof number)) {
        number = number << 8 | static_cast<unsigned char>(byte);
    }
    return number;
}

/// A position in a run.
class SortedRuns::Reader {
public:
    Reader(int file, const Run& run) : file_(file), next_(run.begin), end_(run.end) {}

    std::string_view key() const { return key_; }
    std::string_view value() const { return value_; }

    /// Moves to the next key, and invalidates the previous one. False: the run has no more.
    bool advance() {
        if (next_ == end_ && at_ == block_.size()) {
            return false;
        }
        need(sizeof(Sizes));
        Sizes sizes;
        std::memcpy(sizes.data(), block_.data() + at_, sizeof sizes);
        at_ += sizeof sizes;
        need(std::size_t{sizes[0]} + sizes[1]);
        key_ = std::string_view(block_).substr(at_, sizes[0]);
        value_ = std::string_view(block_).substr(at_ + sizes[0], sizes[1]);
        at_ += key_.size() + value_.size();
        return true;
    }

private:
    // Makes sure that the block has `size` bytes from at_ on.
    void need(std::size_t size) {
        if (block_.size() - at_ >= size) {
            return;
        }
        block_.erase(0, at_);
        at_ = 0;
        const std::size_t had = block_.size();
        const auto left = static_cast<std::size_t>(end_ - next_);
        block_.resize(had + std::min(left, std::max(size - had, read_at_once)));
        for (std::size_t got = had; got < block_.size();) {
            const ssize_t more = ::pread(file_, block_.data() + got, block_.size() - got, next_);
            if (more == 0 || (more < 0 && errno != EINTR)) {
                throw failure("cannot read a temporary file: {}",
                              more == 0 ? "it is shorter than it was" : std::strerror(errno));
            }
            got += more > 0 ? static_cast<std::size_t>(more) : 0;
            next_ += std::max<ssize_t>(more, 0);
        }
    }

    int file_;
    std::int64_t next_; ///< position in the file after the block
    std::int64_t end_;
    std::string block_;
    std::size_t at_ = 0; ///< position in the block
    std::string_view key_;
    std::string_view value_;
};

SortedRuns::Level& SortedRuns::level(std::size_t number) {
    if (number == levels_.size()) {
        levels_.push_back({temporary_file(), 0, {}});
    }
    return levels_[number];
}

void SortedRuns::write(Level& to, std::string_view key, std::string_view value) {
    const Sizes sizes{static_cast<std::uint32_t>(key.size()),
                      static_cast<std::uint32_t>(value.size())};
    unwritten_.append(reinterpret_cast<const char*>(sizes.data()), sizeof sizes);
    unwritten_.append(key).append(value);
    to.size += static_cast<std::int64_t>(sizeof sizes + key.size() + value.size());
    if (unwritten_.size() >= written_at_once) {
        append(to.file.get(), std::as_bytes(std::span(unwritten_)), "a temporary file");
        unwritten_.clear();
    }
}

void SortedRuns::put(std::string_view key, std::string_view value) {
    write(level(0), key, value);
}

void SortedRuns::end_run() {
    end_run(0);
}

void SortedRuns::end_run(std::size_t number) {
    Level& from = level(number);
    append(from.file.get(), std::as_bytes(std::span(unwritten_)), "a temporary file");
    std::string().swap(unwritten_);
    from.runs.push_back({from.runs.empty() ? 0 : from.runs.back().end, from.size});
    if (from.runs.size() < most_beside) {
        return;
    }
    level(number + 1);
    std::vector<Reader> readers;
    for (const Run& run : levels_[number].runs) {
        readers.emplace_back(levels_[number].file.get(), run);
    }
    merge(std::move(readers), [this, number](std::string_view key, std::string_view value) {
        write(levels_[number + 1], key, value);
        return true;
    });
    Level& merged = levels_[number];
    if (::ftruncate(merged.file.get(), 0) != 0 || ::lseek(merged.file.get(), 0, SEEK_SET) != 0) {
        throw failure("cannot empty a temporary file: {}", std::strerror(errno));
    }
    merged.size = 0;
    merged.runs.clear();
    end_run(number + 1);
}

void SortedRuns::each(const Take& take) const {
    std::vector<Reader> readers;
    for (const Level& level : levels_) {
        for (const Run& run : level.runs) {
            readers.emplace_back(level.file.get(), run);
        }
    }
    merge(std::move(readers), take);
}

void SortedRuns::merge(std::vector<Reader> readers, const Take& take) const {
    const auto later = [](const Reader* a, const Reader* b) { return a->key() > b->key(); };
    std::vector<Reader*> next; // a heap, with the least key first
    const auto advance = [&](Reader& reader) {
        if (reader.advance()) {
            next.push_back(&reader);
            std::ranges::push_heap(next, later);
        }
    };
    const auto pop = [&]() -> Reader& {
        std::ranges::pop_heap(next, later);
        Reader& least = *next.back();
        next.pop_back();
        return least;
    };
    std::ranges::for_each(readers, advance);
    std::string key;
    std::string value;
    while (!next.empty()) {
        Reader& first = pop();
        key = first.key();
        value = first.value();
        advance(first);
        while (!next.empty() && next.front()->key() == key) {
            Reader& same = pop();
            join_(value, same.value());
            advance(same);
        }
        if (!take(key, value)) {
            return;
        }
    }
}

} // namespace mmioscope
