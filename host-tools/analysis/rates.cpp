#include "analysis/rates.hpp"

#include <algorithm>
#include <tuple>

namespace mmioscope::analysis {

void Rates::Looked::add(const Looked& other) {
    count.add(other.count);
    if (other.look > look) {
        look = other.look;
        came = 0;
    }
    came += other.look == look ? other.came : 0;
}

void Rates::look(CountsByName& came, double seconds) {
    ++look_;
    seconds_ = seconds;
    of_all_ = false;
    came.each([this](std::string_view name, const Count& count) {
        names_.of(name).add({count, look_, count.accesses()});
        return true;
    });
}

void Rates::look_at_all(double seconds) {
    seconds_ = seconds;
    of_all_ = true;
}

double Rates::per_second(const Looked& looked) const {
    const std::uint64_t came = of_all_                ? looked.count.accesses()
                               : looked.look == look_ ? looked.came
                                                      : 0;
    return seconds_ > 0 ? static_cast<double>(came) / seconds_ : 0;
}

FirstRates Rates::first(const RateChoice& choice, std::size_t most) {
    const auto before = [&choice](const Rate& a, const Rate& b) {
        const Order order = choice.order == Order::accesses ? Order::name : choice.order;
        const auto weights = [order, &choice](const Rate& rate) {
            const bool by_name = choice.order == Order::name;
            return std::tuple(weight(rate.count, order), by_name ? 0 : rate.per_second,
                              by_name ? 0 : rate.count.accesses());
        };
        const auto of_a = weights(a), of_b = weights(b);
        return of_a != of_b ? of_a > of_b : a.name < b.name;
    };
    FirstRates first;
    first.total.name = "total";
    std::vector<Rate>& heap = first.rows; // the row that comes last is on top
    names_.each([&](std::string_view name, const Looked& looked) {
        if (!name.starts_with(choice.front)) {
            return true;
        }
        Rate rate{std::string(name.substr(choice.front.size())), looked.count, per_second(looked)};
        ++first.size;
        first.total.count.add(rate.count);
        first.total.per_second += rate.per_second;
        if (heap.size() == most) {
            if (heap.empty() || !before(rate, heap.front())) {
                return true;
            }
            std::ranges::pop_heap(heap, before);
            heap.pop_back();
        }
        heap.push_back(std::move(rate));
        std::ranges::push_heap(heap, before);
        return true;
    });
    std::ranges::sort_heap(heap, before);
    return first;
}

} // namespace mmioscope::analysis
