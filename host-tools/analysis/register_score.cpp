#include "analysis/register_score.hpp"

#include "analysis/shared_use.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <span>
#include <utility>

namespace mmioscope::analysis {

namespace {

double percent(std::uint64_t part, std::uint64_t all) {
    return all == 0 ? 0 : 100.0 * static_cast<double>(part) / static_cast<double>(all);
}

} // namespace

void RegisterScore::Counts::add(const Counts& other) {
    const auto sum = [](auto& to, const auto& of) {
        std::transform(to.begin(), to.end(), of.begin(), to.begin(), std::plus());
    };
    reads += other.reads;
    data += other.data;
    given += other.given;
    situations += other.situations;
    sum(right, other.right);
    sum(right_once, other.right_once);
    sum(rules, other.rules);
    if (other.first_wrong != 0 && (first_wrong == 0 || other.first_wrong < first_wrong)) {
        first_wrong = other.first_wrong;
    }
}

RegisterScore::Counts& RegisterScore::counts(std::size_t reg) {
    if (reg >= registers_.size()) {
        registers_.resize(reg + 1);
    }
    return registers_[reg];
}

std::uint64_t RegisterScore::situation(std::size_t reg) {
    std::uint64_t hash = joined(1, reg);
    for (const std::uint64_t access : last_[model_.registers()[reg].device_number]) {
        hash = joined(hash, access);
    }
    return hash;
}

void RegisterScore::judge(const Event& event, std::size_t reg, std::uint32_t value) {
    Counts& counts = this->counts(reg);
    const double now = static_cast<double>(event.nanoseconds) * 1e-9;
    const auto fed_says = model_.foretell(reg, fed_, now);
    const auto free_says = model_.foretell(reg, free_, now);
    free_value_ = free_says ? std::optional(free_says->value) : std::nullopt;
    const auto said = [](const auto& foretold) {
        return foretold ? std::optional(foretold->value) : std::nullopt;
    };
    const std::array<std::optional<std::uint32_t>, who_count> all = {
        said(fed_says), said(free_says), fed_.last_read(reg), fed_.last_written(reg),
        model_.most_frequent(reg)};
    bool& seen = situations_.of(situation(reg));
    const bool left_out = situations_.is_rest(seen);
    const bool first = !left_out && !std::exchange(seen, true);
    left_out_ += left_out ? 1 : 0;
    counts.situations += first ? 1 : 0;
    for (unsigned who = 0; who < who_count; ++who) {
        const bool right = all[who] == value;
        counts.right[who] += right ? 1 : 0;
        counts.right_once[who] += first && right ? 1 : 0;
    }
    ++counts.reads;
    if (fed_says) {
        ++counts.rules[static_cast<std::size_t>(fed_says->rule)];
    }
    if (counts.first_wrong == 0 && all[fed] != value) {
        counts.first_wrong = event.number;
    }
}

void RegisterScore::add(const Event& event) {
    const abi::RecordType type = event.record.type;
    if (type == abi::RecordType::gap || type == abi::RecordType::power) {
        fed_.forget();
        free_.forget();
        last_.clear();
    }
    const auto reg = type == abi::RecordType::access ? numbers_.of(event, model_) : std::nullopt;
    if (!reg) {
        return;
    }
    ModelAccess access = model_access(event, *reg);
    const bool data = model_.registers()[*reg].data;
    const bool given = interrupts_given_ && access.value && acknowledges_interrupt(event);
    if (data && !access.write) {
        ++counts(*reg).data;
    } else if (given) {
        ++counts(*reg).given;
    } else if (!access.write && access.value) {
        judge(event, *reg, *access.value);
    }
    auto& last = last_[model_.registers()[*reg].device_number];
    std::copy_backward(last.begin(), last.end() - 1, last.end());
    last.front() = joined(joined(joined(1, *reg), access.write ? 1 : 2),
                          data || !access.value ? ~std::uint64_t{0} : *access.value);
    fed_.add(access, model_);
    if (!access.write && access.value && !data && !given) {
        access.value = free_value_;
    }
    free_.add(access, model_);
}

table::Row RegisterScore::row(const std::string& device, const std::string& name,
                              table::Cell offset, const Counts& counts) {
    const auto rule = std::max_element(counts.rules.begin(), counts.rules.end());
    table::Row row{device, std::move(offset), name, counts.reads};
    for (const unsigned who : {fed, free_running}) {
        row.insert(row.end(), {counts.right[who], percent(counts.right[who], counts.reads)});
    }
    row.insert(row.end(), {counts.right[last_read], counts.right[last_written],
                           counts.right[most_frequent], counts.situations});
    for (unsigned who = 0; who < who_count; ++who) {
        row.insert(row.end(),
                   {counts.right_once[who], percent(counts.right_once[who], counts.situations)});
    }
    row.emplace_back(*rule == 0 ? std::string_view("none")
                                : name_of(static_cast<Rule>(rule - counts.rules.begin())));
    row.emplace_back();
    if (counts.first_wrong != 0) {
        row.back() = counts.first_wrong;
    }
    return row;
}

table::Table RegisterScore::table() const {
    using enum table::Look;
    table::Table table{{{"device", "device", table::Look::device},
                        {"offset", "offset", number, 6},
                        {"register", "register"},
                        {"reads", "reads", number, 7},
                        {"right"},
                        {"", "right %", number, 5, 1},
                        {"free_right"},
                        {"", "free %", number, 5, 1},
                        {"last_read_right"},
                        {"last_written_right"},
                        {"frequent_right"},
                        {"situations", "situations", number},
                        {"situations_right"},
                        {"", "right %", number, 5, 1},
                        {"situations_free_right"},
                        {"", "free %", number, 5, 1},
                        {"situations_last_read_right"},
                        {"", "read %", number, 5, 1},
                        {"situations_last_written_right"},
                        {"", "written %", number, 5, 1},
                        {"situations_frequent_right"},
                        {"", "frequent %", number, 5, 1},
                        {"rule", "rule"},
                        {"first_wrong", "deviates", number}},
                       {}};
    std::map<std::pair<std::string, std::uint64_t>, std::size_t> in_order;
    std::map<std::string, Counts> devices;
    Counts all;
    for (std::size_t reg = 0; reg < registers_.size(); ++reg) {
        const RegisterModel::Register& one = model_.registers()[reg];
        devices[one.device].add(registers_[reg]);
        all.add(registers_[reg]);
        if (registers_[reg].reads > 0) {
            in_order[{one.device, one.offset}] = reg;
        }
    }
    for (const auto& [place, reg] : in_order) {
        table.rows.push_back(row(place.first, model_.registers()[reg].name,
                                 table::Hex{place.second}, registers_[reg]));
    }
    for (const auto& [name, counts] : devices) {
        if (counts.reads > 0) {
            table.rows.push_back(row(name, "all", {}, counts));
        }
    }
    table.closing = verdict(all);
    add_left_out(table.left_out, left_out_, "reads in situations", situations_.most());
    return table;
}

std::string RegisterScore::verdict(const Counts& all) const {
    const std::uint64_t best =
        *std::max_element(all.right_once.begin() + last_read, all.right_once.end());
    return fmt::format(
        "situations: {} of {} foretold, {:.1f} % (best baseline {:.1f} %); reads: {} of {}, and {} "
        "of data left out{}; {}",
        all.right_once[fed], all.situations, percent(all.right_once[fed], all.situations),
        percent(best, all.situations), all.right[fed], all.reads, all.data,
        interrupts_given_ ? fmt::format(", {} interrupts given", all.given) : "",
        all.first_wrong == 0 ? "none deviates"
                             : fmt::format("deviates at event {}", all.first_wrong));
}

// What the model remembers of a trace while it follows it.

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

RegisterModel::Seen::Device& RegisterModel::Seen::device(std::size_t number) {
    if (number >= devices_.size()) {
        devices_.resize(number + 1);
    }
    return devices_[number];
}

RegisterModel::Seen::One& RegisterModel::Seen::one(std::size_t reg) {
    if (reg >= registers_.size()) {
        registers_.resize(reg + 1);
    }
    return registers_[reg];
}

std::optional<std::uint32_t> RegisterModel::Seen::last_read(std::size_t reg) const {
    return reg < registers_.size() ? registers_[reg].read : std::nullopt;
}

std::optional<std::uint32_t> RegisterModel::Seen::last_written(std::size_t reg) const {
    return reg < registers_.size() ? registers_[reg].written : std::nullopt;
}

void RegisterModel::Seen::forget() {
    *this = Seen();
}

void RegisterModel::Seen::add(const ModelAccess& access, const RegisterModel& model) {
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

RegisterModel::Contexts RegisterModel::contexts(std::size_t reg, const Seen::Device& device,
                                                const Seen::One& one) {
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
