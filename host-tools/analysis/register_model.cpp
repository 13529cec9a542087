#include "analysis/register_model.hpp"
#include "registers/fields_text.hpp"
#include <algorithm>
#include <cmath>
#include <span>

namespace mmioscope::analysis {

namespace {

constexpr std::string_view rule_names[rule_count] = {
    "last read",     "last written",  "cleared",       "clock",         "recalled",
    "recalled 2",    "recalled own",  "own",           "step by data",  "step by 3",
    "by data",       "by 3 data",     "by write",      "by 2 writes",   "by 4 writes",
    "alone",         "by access",     "by 2 accesses", "by 3 accesses", "by 5 accesses",
    "by 8 accesses", "by 12 accesses"};

// How far the rules look back that learn for accesses or writes.
constexpr std::pair<Rule, std::size_t> histories[] = {
    {Rule::history_0, 0}, {Rule::history_1, 1}, {Rule::history_2, 2},  {Rule::history_3, 3},
    {Rule::history_5, 5}, {Rule::history_8, 8}, {Rule::history_12, 12}};
constexpr std::pair<Rule, std::size_t> write_histories[] = {
    {Rule::writes_1, 1}, {Rule::writes_2, 2}, {Rule::writes_4, 4}};

constexpr std::pair<Rule, std::size_t> data_histories[] = {{Rule::data_1, 1}, {Rule::data_3, 3}};

constexpr std::size_t index_of(Rule rule) {
    return static_cast<std::size_t>(rule);
}

constexpr std::uint64_t rule_key(Rule rule, std::size_t reg) {
    return joined(joined(1, reg), index_of(rule));
}

/// Of a value that may be missing.
constexpr std::uint64_t number(std::optional<std::uint32_t> value) {
    return value ? *value : std::uint64_t{1} << 32;
}

/// Of the rules recalled_1, recalled_2 and recalled_own.
constexpr std::array<std::uint64_t, 3> recalled_keys(std::size_t reg,
                                                     std::span<const std::uint64_t> writes,
                                                     std::optional<std::uint32_t> own) {
    const std::uint64_t after = joined(rule_key(Rule::recalled_1, reg), writes[0]);
    return {after, joined(after, writes[1]), joined(~after, number(own))};
}

template <std::size_t N>
void push(std::array<std::uint64_t, N>& latest_first, std::uint64_t one) {
    std::copy_backward(latest_first.begin(), latest_first.end() - 1, latest_first.end());
    latest_first.front() = one;
}

} // namespace

std::string_view name_of(Rule rule) {
    return rule_names[index_of(rule)];
}

ModelAccess model_access(const Event& event, std::size_t reg) {
    const abi::Record& record = event.record;
    const bool known = (record.flags & abi::flag_value_unknown) == 0 &&
                       abi::access_size(record) <= sizeof(std::uint32_t);
    return {reg, abi::is_write(record),
            known ? std::optional(static_cast<std::uint32_t>(record.value)) : std::nullopt,
            static_cast<double>(event.nanoseconds) * 1e-9};
}

double RegisterModel::Register::rate() const {
    if (slowest <= 0 || fastest < slowest || std::isinf(fastest)) {
        return 0;
    }
    const double middle = slowest + (fastest - slowest) / 2;
    for (double step = 1e9; step > 1e-9; step /= 10) {
        const double rate = std::round(middle / step) * step;
        if (rate >= slowest && rate <= fastest) {
            return rate;
        }
    }
    return middle;
}

std::optional<std::size_t> RegisterModel::Numbers::of(const Event& event, RegisterModel& model) {
    const std::pair place(event.record.device, event.offset());
    const auto at = known_.find(place);
    if (at != known_.end()) {
        return at->second;
    }
    std::optional<std::size_t> number;
    if (model.classes_.means(event.device())) {
        const std::size_t device =
            model.devices_.emplace(event.device(), model.devices_.size()).first->second;
        const auto known = model.places_.find({device, event.offset()});
        if (known != model.places_.end()) {
            number = known->second;
        } else if (model.registers_.size() < most_registers) {
            number = model.registers_.size();
            model.places_[{device, event.offset()}] = *number;
            Register& one = model.registers_.emplace_back();
            one.device = event.device();
            one.name = registers::register_text(event.reg(), event.offset());
            one.offset = event.offset();
            one.device_number = device;
        }
    }
    if (known_.size() < 2 * most_registers) {
        known_[place] = number;
    }
    return number;
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
    for (const auto& [rule, back] : histories) {
        std::uint64_t& key = all.keys[index_of(rule)] = rule_key(rule, reg);
        for (std::size_t i = 0; i < back; ++i) {
            key = joined(key, device.accesses[i]);
        }
    }
    for (const auto& [rule, back] : write_histories) {
        std::uint64_t& key = all.keys[index_of(rule)] = rule_key(rule, reg);
        for (std::size_t i = 0; i < back; ++i) {
            key = joined(key, device.writes[i]);
        }
    }
    for (const auto& [rule, back] : data_histories) {
        std::uint64_t& key = all.keys[index_of(rule)] = rule_key(rule, reg);
        for (std::size_t i = 0; i < back; ++i) {
            key = joined(key, device.data_accesses[i]);
        }
    }
    all.keys[index_of(Rule::own)] =
        joined(joined(joined(rule_key(Rule::own, reg), number(one.read)), number(one.written)),
               one.written_last ? 1 : 0);
    if (one.read) {
        all.steps = true;
        all.base = *one.read;
        all.keys[index_of(Rule::step_runs)] = joined(
            rule_key(Rule::step_runs, reg), std::min<std::uint64_t>(device.data - one.data, 255));
        std::uint64_t& key = all.keys[index_of(Rule::step_3)] = rule_key(Rule::step_3, reg);
        for (std::size_t i = 0; i < 3; ++i) {
            key = joined(key, device.places[i]);
        }
    }
    return all;
}

std::array<RegisterModel::Candidate, rule_count> RegisterModel::candidates(std::size_t reg,
                                                                           const Run& run,
                                                                           const Contexts& contexts,
                                                                           double seconds) const {
    std::array<Candidate, rule_count> all{};
    for (std::size_t rule = 0; rule < rule_count; ++rule) {
        if (const Slot* slot = contexts.keys[rule] == 0 ? nullptr : find(contexts.keys[rule])) {
            const bool step = rule == index_of(Rule::step_runs) || rule == index_of(Rule::step_3);
            all[rule] = {true, static_cast<std::uint8_t>(slot->run),
                         slot->value + (step ? contexts.base : 0), slot->so_far};
        }
    }
    const std::optional<std::uint32_t> read = run.last_read(reg), written = run.last_written(reg);
    if (read) {
        const Run::One& one = run.registers_[reg];
        all[index_of(Rule::last_read)] = {true, one.written_last, *read};
        if (const double rate = registers_[reg].rate(); rate > 0 && one.most > one.least) {
            const double now = (one.least + one.most) / 2 + rate * seconds;
            if (now >= 0 && now < 0x1p32) {
                all[index_of(Rule::clock)] = {true, 0, static_cast<std::uint32_t>(now)};
            }
        }
    }
    if (written) {
        const bool last = run.registers_[reg].written_last;
        all[index_of(Rule::last_written)] = {true, last, *written};
        if (read && last) {
            all[index_of(Rule::cleared)] = {true, 0, *read & ~*written};
        }
    }
    const std::size_t number = registers_[reg].device_number;
    if (number < run.devices_.size()) {
        const auto& writes = run.devices_[number].writes;
        const auto keys = recalled_keys(reg, writes, written);
        for (std::size_t i = 0; i < keys.size(); ++i) {
            if (const auto found = run.recalled_.find(keys[i]); found != run.recalled_.end()) {
                all[index_of(Rule::recalled_1) + i] = {true, 0, found->second};
            }
        }
    }
    return all;
}

const RegisterModel::Slot* RegisterModel::find(std::uint64_t key) const {
    const std::size_t first = (key >> (64 - table_bits)) & ~(ways - 1);
    const auto tag = static_cast<std::uint32_t>(key) | 1;
    for (std::size_t i = first; i < first + ways; ++i) {
        if (slots_[i].tag == tag) {
            return &slots_[i];
        }
    }
    return nullptr;
}

void RegisterModel::learn(std::uint64_t key, std::uint32_t value) {
    const std::size_t first = (key >> (64 - table_bits)) & ~(ways - 1);
    const auto tag = static_cast<std::uint32_t>(key) | 1;
    Slot* least = &slots_[first];
    for (std::size_t i = first; i < first + ways; ++i) {
        Slot& slot = slots_[i];
        if (slot.tag == tag) {
            ++slot.so_far.all;
            slot.so_far.right += slot.value == value ? 1 : 0;
            if (slot.so_far.all == most_cases) { // what was long ago counts less
                slot.so_far.all /= 2;
                slot.so_far.right /= 2;
            }
            if (slot.value == value) {
                slot.run = std::min(slot.run + 1, Register::most_run);
            } else if (slot.run > 1) {
                slot.run /= 2;
            } else {
                slot.value = value;
                slot.run = 0;
            }
            return;
        }
        least = slot.tag == 0 || slot.run < least->run ? &slot : least;
    }
    if (least->tag != 0 && least->run > 0) {
        --least->run; // what was right often stays for a while
        return;
    }
    *least = {tag, value, 0, {}};
}

void RegisterModel::learn_rate(Register& reg, const ModelAccess& access) {
    if (!reg.first) {
        reg.first = access;
        return;
    }
    const double passed = access.seconds - reg.first->seconds;
    if (*access.value < *reg.first->value || passed <= 0) {
        reg.fastest = -1; // no clock
        return;
    }
    const double steps = *access.value - *reg.first->value;
    reg.slowest = std::max(reg.slowest, (steps - 1) / passed);
    reg.fastest = std::min(reg.fastest, (steps + 1) / passed);
}

void RegisterModel::learn_read(const ModelAccess& access) {
    const std::size_t reg = access.reg;
    const std::uint32_t value = *access.value;
    Register& one = registers_[reg];
    const Contexts now = contexts(reg, run_.device(one.device_number), run_.one(reg));
    const auto all = candidates(reg, run_, now, access.seconds);
    learn_rate(one, access);
    for (std::size_t rule = 0; rule < rule_count; ++rule) {
        if (all[rule].exists) {
            const std::uint8_t run = all[rule].run;
            for (Share* share : {&one.shares[rule][run], &one.rules[rule], &shares_[rule][run]}) {
                ++share->all;
                share->right += all[rule].value == value ? 1 : 0;
            }
        }
        if (now.keys[rule] != 0) {
            const bool step = rule == index_of(Rule::step_runs) || rule == index_of(Rule::step_3);
            learn(now.keys[rule], value - (step ? now.base : 0));
        }
    }
    if (one.frequent.size() < most_values || one.frequent.contains(value)) {
        ++one.frequent[value];
    } else {
        for (auto& [kept, count] : one.frequent) {
            --count;
        }
        std::erase_if(one.frequent, [](const auto& kept) { return kept.second == 0; });
    }
}

void RegisterModel::add(const Event& event) {
    const abi::RecordType type = event.record.type;
    if (type == abi::RecordType::gap || type == abi::RecordType::power) {
        run_.forget();
    }
    if (type != abi::RecordType::access) {
        return;
    }
    const std::size_t before = registers_.size();
    const auto reg = numbers_.of(event, *this);
    if (!reg) {
        return;
    }
    if (registers_.size() > before) {
        registers_.back().data = classes_.carries_data(event);
    }
    const ModelAccess access = model_access(event, *reg);
    if (!access.write && access.value && !registers_[*reg].data) {
        learn_read(access);
    }
    run_.take(access, *this);
}

std::optional<std::uint32_t> RegisterModel::most_frequent(std::size_t reg) const {
    const auto& values = registers_[reg].frequent;
    const auto most = std::max_element(values.begin(), values.end(),
                                       [](auto& a, auto& b) { return a.second < b.second; });
    return most == values.end() ? std::nullopt : std::optional(most->first);
}

std::optional<RegisterModel::Foretold> RegisterModel::foretell(std::size_t reg, const Run& run,
                                                               double seconds) const {
    const Register& one = registers_[reg];
    const Run::Device device =
        one.device_number < run.devices_.size() ? run.devices_[one.device_number] : Run::Device();
    const auto all = candidates(
        reg, run,
        contexts(reg, device, reg < run.registers_.size() ? run.registers_[reg] : Run::One()),
        seconds);
    std::optional<Foretold> best;
    double most = -1;
    for (std::size_t rule = 0; rule < rule_count; ++rule) {
        if (!all[rule].exists) {
            continue;
        }
        // Where such cases of the register were few, the rule's other cases count: of the register,
        // then of all registers.
        const Share &any = shares_[rule][all[rule].run], &here = one.shares[rule][all[rule].run],
                    &of_rule = one.rules[rule];
        const double elsewhere = (any.right + 0.5) / (any.all + 1.0);
        const double before = (of_rule.right + 1.0 * elsewhere) / (of_rule.all + 1.0);
        const double in_case = (here.right + 2.0 * before) / (here.all + 2.0);
        // How often in a row a context was right may count accesses while the model learns, and
        // stands still afterwards. So the context's own record decides where there is one.
        const Share& context = all[rule].of_context;
        const double share = (context.right + 8.0 * in_case) / (context.all + 8.0);
        if (share >= most) { // of equal ones, that which looks at more
            most = share;
            best = {all[rule].value, static_cast<Rule>(rule)};
        }
    }
    return best;
}

} // namespace mmioscope::analysis
