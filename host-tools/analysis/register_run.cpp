// What the model remembers of a trace while it follows it.
#include "analysis/register_model.hpp"

#include <algorithm>
#include <span>

namespace mmioscope::analysis {

namespace {

// How far the rules look back that learn for accesses or writes.
constexpr std::pair<Rule, std::size_t> histories[] = {
    {Rule::history_0, 0}, {Rule::history_1, 1}, {Rule::history_2, 2},  {Rule::history_3, 3},
    {Rule::history_5, 5}, {Rule::history_8, 8}, {Rule::history_12, 12}};
constexpr std::pair<Rule, std::size_t> write_histories[] = {
    {Rule::writes_1, 1}, {Rule::writes_2, 2}, {Rule::writes_4, 4}};

constexpr std::pair<Rule, std::size_t> data_histories[] = {{Rule::data_1, 1}, {Rule::data_3, 3}};

constexpr std::uint64_t rule_key(Rule rule, std::size_t reg) {
    return joined(joined(1, reg), index_of(rule));
}

/// Of a value that may be missing.
constexpr std::uint64_t number(std::optional<std::uint32_t> value) {
    return value ? *value : std::uint64_t{1} << 32;
}

template <std::size_t N>
void push(std::array<std::uint64_t, N>& latest_first, std::uint64_t one) {
    std::copy_backward(latest_first.begin(), latest_first.end() - 1, latest_first.end());
    latest_first.front() = one;
}

} // namespace

std::array<std::uint64_t, 3> RegisterModel::recalled_keys(std::size_t reg,
                                                          std::span<const std::uint64_t> writes,
                                                          std::optional<std::uint32_t> own) {
    const std::uint64_t after = joined(rule_key(Rule::recalled_1, reg), writes[0]);
    return {after, joined(after, writes[1]), joined(~after, number(own))};
}

RegisterModel::Run::Device& RegisterModel::Run::device(std::size_t number) {
    if (number >= devices_.size()) {
        devices_.resize(number + 1);
    }
    return devices_[number];
}

RegisterModel::Run::One& RegisterModel::Run::one(std::size_t reg) {
    if (reg >= registers_.size()) {
        registers_.resize(reg + 1);
    }
    return registers_[reg];
}

std::optional<std::uint32_t> RegisterModel::Run::last_read(std::size_t reg) const {
    return reg < registers_.size() ? registers_[reg].read : std::nullopt;
}

std::optional<std::uint32_t> RegisterModel::Run::last_written(std::size_t reg) const {
    return reg < registers_.size() ? registers_[reg].written : std::nullopt;
}

void RegisterModel::Run::forget() {
    *this = Run();
}

void RegisterModel::Run::take(const ModelAccess& access, const RegisterModel& model) {
    const Register& reg = model.registers_[access.reg];
    Device& device = this->device(reg.device_number);
    One& one = this->one(access.reg);
    const std::uint64_t place = joined(joined(1, access.reg), access.write ? 1 : 2);
    if (reg.data) {
        ++device.data;
        push(device.data_accesses, joined(place, number(access.value)));
        if (device.places.front() == place) {
            device.accesses.front() = joined(place, ++device.in_row);
        } else {
            device.in_row = 1;
            push(device.places, place);
            push(device.accesses, joined(place, 1));
        }
        return;
    }
    const std::uint64_t what = joined(place, number(access.value));
    if (device.accesses.front() != what) {
        push(device.places, place);
        push(device.accesses, what);
    }
    if (access.write) {
        push(device.writes, what);
        one.written = access.value;
        one.written_last = true;
        return;
    }
    if (const double rate = reg.rate(); rate > 0 && access.value) {
        const double begin = *access.value - rate * access.seconds;
        one.least = one.read ? std::max(one.least, begin) : begin;
        one.most = one.read ? std::min(one.most, begin + 1) : begin + 1;
        if (one.least >= one.most) {
            one.least = begin;
            one.most = begin + 1;
        }
    }
    one.read = access.value;
    one.written_last = false;
    one.data = device.data;
    if (access.value) {
        for (const std::uint64_t key : recalled_keys(access.reg, device.writes, one.written)) {
            if (recalled_.size() < most_recalled || recalled_.contains(key)) {
                recalled_[key] = *access.value;
            }
        }
    }
}

RegisterModel::Contexts RegisterModel::contexts(std::size_t reg, const Run::Device& device,
                                                const Run::One& one) {
    Contexts all;
    const auto of = [&](Rule rule, std::span<const std::uint64_t> latest_first) {
        std::uint64_t key = rule_key(rule, reg);
        for (const std::uint64_t before : latest_first) {
            key = joined(key, before);
        }
        all.keys[index_of(rule)] = key;
    };
    for (const auto& [rule, back] : histories) {
        of(rule, std::span(device.accesses).first(back));
    }
    for (const auto& [rule, back] : write_histories) {
        of(rule, std::span(device.writes).first(back));
    }
    for (const auto& [rule, back] : data_histories) {
        of(rule, std::span(device.data_accesses).first(back));
    }
    all.keys[index_of(Rule::own)] =
        joined(joined(joined(rule_key(Rule::own, reg), number(one.read)), number(one.written)),
               one.written_last ? 1 : 0);
    if (one.read) {
        all.base = *one.read;
        all.keys[index_of(Rule::step_runs)] = joined(
            rule_key(Rule::step_runs, reg), std::min<std::uint64_t>(device.data - one.data, 255));
        of(Rule::step_3, std::span(device.places).first(3));
    }
    return all;
}

} // namespace mmioscope::analysis
