// What happened in the course of time, in bounded memory: the more there is, the wider the buckets.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace mmioscope::report {

/// A Cell has `begin`, ns of its first event, and add(), which takes the next cell of its bucket
/// in. Cells come in the order of time; one that is earlier than the last bucket joins it.
template <typename Cell>
class TimeBuckets {
public:
    void add(const Cell& one) {
        if (!cells_.empty() && bucket(one) <= bucket(cells_.back())) {
            cells_.back().add(one);
        } else {
            cells_.push_back(one);
        }
    }

    /// Doubles the buckets' width until half of the cells are left, so that it is seldom done.
    void widen() {
        const std::size_t half = cells_.size() / 2;
        while (cells_.size() > half && shift_ < 63) {
            ++shift_;
            std::size_t kept = 0;
            for (std::size_t i = 1; i < cells_.size(); ++i) {
                if (bucket(cells_[i]) == bucket(cells_[kept])) {
                    cells_[kept].add(cells_[i]);
                } else {
                    cells_[++kept] = cells_[i];
                }
            }
            cells_.resize(kept + 1);
        }
        cells_.shrink_to_fit();
    }

    /// ns from the beginning of a bucket to that of the next.
    std::uint64_t width() const { return std::uint64_t{1} << shift_; }
    const std::vector<Cell>& cells() const { return cells_; }
    /// The last cell; null: there is none.
    Cell* last() { return cells_.empty() ? nullptr : &cells_.back(); }

private:
    std::uint64_t bucket(const Cell& cell) const { return cell.begin >> shift_; }

    unsigned shift_ = 0;
    std::vector<Cell> cells_;
};

/// Several of them, which share the room for cells: whichever has most gets wider buckets. So what
/// seldom happens is kept exactly beside what often happens.
template <typename Cell>
class SharedRoom {
public:
    /// For `most` cells.
    explicit SharedRoom(std::size_t most) : most_(most) {}

    /// `buckets` begins to use the room, is empty, and stays where it is.
    void share(TimeBuckets<Cell>& buckets) { all_.push_back(&buckets); }

    void add(TimeBuckets<Cell>& to, const Cell& one) {
        used_ -= to.cells().size();
        to.add(one);
        used_ += to.cells().size();
        if (used_ > most_) {
            const auto size = [](const TimeBuckets<Cell>* one) { return one->cells().size(); };
            TimeBuckets<Cell>& largest = **std::ranges::max_element(all_, {}, size);
            used_ -= largest.cells().size();
            largest.widen();
            used_ += largest.cells().size();
        }
    }

private:
    std::size_t most_;
    std::size_t used_ = 0; ///< cells
    std::vector<TimeBuckets<Cell>*> all_;
};

} // namespace mmioscope::report
