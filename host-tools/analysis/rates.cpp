#include "analysis/rates.hpp"

#include <algorithm>
#include <functional>
#include <tuple>

namespace mmioscope::analysis {

void Rates::Looked::look(const Count& now) {
    came = now.accesses() - count.accesses();
    count = now;
}

void Rates::look(Key key, const CountsByName& counts, double seconds) {
    seconds_ = seconds;
    of_all_ = false;
    for (const auto& [name, count] : counts.held()) {
        names_[name].look(count);
    }
    rest_.look(counts.rest());
    left_out_.clear();
    add_left_out(left_out_, rest_.count.accesses(), fmt::format("accesses of {}s", key_text(key)),
                 counts.most());
}

void Rates::look_at_all(double seconds) {
    seconds_ = seconds;
    of_all_ = true;
}

Rate Rates::rate_of(std::string_view name, const Looked& looked) const {
    const std::uint64_t came = of_all_ ? looked.count.accesses() : looked.came;
    return {std::string(name), looked.count,
            seconds_ > 0 ? static_cast<double>(came) / seconds_ : 0};
}

ShownRates Rates::shown(const RateChoice& choice) const {
    ShownRates shown{{}, rate_of("total", choice.front.empty() ? rest_ : Looked()), left_out_};
    for (const auto& [name, looked] : names_) {
        if (name.starts_with(choice.front)) {
            const Rate& rate =
                shown.rows.emplace_back(rate_of(name.substr(choice.front.size()), looked));
            shown.total.count.add(rate.count);
            shown.total.per_second += rate.per_second;
        }
    }
    const Order order = choice.order == Order::accesses ? Order::name : choice.order;
    const bool by_name = choice.order == Order::name;
    std::ranges::stable_sort(shown.rows, std::greater(), [order, by_name](const Rate& rate) {
        return std::tuple(weight(rate.count, order), by_name ? 0 : rate.per_second,
                          by_name ? 0 : rate.count.accesses());
    });
    return shown;
}

} // namespace mmioscope::analysis
