// A vector with room for N elements, since there is no heap.
#pragma once

#include <cstddef>
#include <type_traits>

namespace mmioscope {

template <class T, std::size_t N>
class FixedVector {
public:
    // Elements after size() are neither cleared nor copied; only in a constant all of them must
    // have a value.
    constexpr FixedVector() {
        if (std::is_constant_evaluated())
            for (T& item : items_) item = T{};
    }
    FixedVector(const FixedVector& from) { *this = from; }
    FixedVector& operator=(const FixedVector& from) {
        size_ = from.size_;
        for (std::size_t i = 0; i < size_; ++i) items_[i] = from.items_[i];
        return *this;
    }

    /// False: no room; nothing has changed.
    [[nodiscard]] bool push_back(const T& v) {
        if (size_ == N) return false;
        items_[size_++] = v;
        return true;
    }
    /// Inserts before `index` (at most size()). False: no room; nothing has changed.
    [[nodiscard]] bool insert(std::size_t index, const T& v) {
        if (size_ == N) return false;
        for (std::size_t i = size_; i > index; --i) items_[i] = items_[i - 1];
        items_[index] = v;
        ++size_;
        return true;
    }
    void erase(std::size_t index) {
        for (std::size_t i = index + 1; i < size_; ++i) items_[i - 1] = items_[i];
        --size_;
    }
    void clear() { size_ = 0; }

    std::size_t size() const { return size_; }
    bool empty() const { return size_ == 0; }
    static constexpr std::size_t capacity() { return N; }

    T& operator[](std::size_t i) { return items_[i]; }
    const T& operator[](std::size_t i) const { return items_[i]; }
    T* begin() { return items_; }
    T* end() { return items_ + size_; }
    const T* begin() const { return items_; }
    const T* end() const { return items_ + size_; }

private:
    T items_[N];
    std::size_t size_{};
};

} // namespace mmioscope
