#include "analysis/register_model.hpp"

#include "registers/fields_text.hpp"

#include <algorithm>
#include <cmath>

namespace mmioscope::analysis {

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
    if (known_.size() < 2 * most_registers) {
        known_[place] = number;
    }
    return number;
}

std::array<RegisterModel::Candidate, rule_count> RegisterModel::candidates(std::size_t reg,
                                                                           const Seen& run,
                                                                           const Contexts& contexts,
                                                                           double seconds) const {
    std::array<Candidate, rule_count> all{};
    for (std::size_t rule = 0; rule < rule_count; ++rule) {
        if (const auto* slot =
                contexts.keys[rule] == 0 ? nullptr : learnt_.find(contexts.keys[rule])) {
            all[rule] = {true, static_cast<std::uint8_t>(slot->run),
                         slot->value + (is_step(rule) ? contexts.base : 0), slot->so_far};
        }
    }
    const std::optional<std::uint32_t> read = run.last_read(reg), written = run.last_written(reg);
    if (read) {
        const Seen::One& one = run.registers_[reg];
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
            learnt_.learn(now.keys[rule], value - (is_step(rule) ? now.base : 0));
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
    run_.add(access, *this);
}

std::optional<std::uint32_t> RegisterModel::most_frequent(std::size_t reg) const {
    const auto& values = registers_[reg].frequent;
    const auto most = std::max_element(values.begin(), values.end(),
                                       [](auto& a, auto& b) { return a.second < b.second; });
    return most == values.end() ? std::nullopt : std::optional(most->first);
}

std::optional<RegisterModel::Foretold> RegisterModel::foretell(std::size_t reg, const Seen& run,
                                                               double seconds) const {
    const Register& one = registers_[reg];
    const Seen::Device device =
        one.device_number < run.devices_.size() ? run.devices_[one.device_number] : Seen::Device();
    const auto all = candidates(
        reg, run,
        contexts(reg, device, reg < run.registers_.size() ? run.registers_[reg] : Seen::One()),
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

std::string_view name_of(Rule rule) {
    static constexpr std::string_view names[rule_count] = {
        "last read",     "last written",  "cleared",       "clock",         "recalled",
        "recalled 2",    "recalled own",  "own",           "step by data",  "step by 3",
        "by data",       "by 3 data",     "by write",      "by 2 writes",   "by 4 writes",
        "alone",         "by access",     "by 2 accesses", "by 3 accesses", "by 5 accesses",
        "by 8 accesses", "by 12 accesses"};
    return names[index_of(rule)];
}

const ContextTable::Slot* ContextTable::find(std::uint64_t key) const {
    const std::size_t first = (key >> (64 - table_bits)) & ~(ways - 1);
    const auto tag = static_cast<std::uint32_t>(key) | 1;
    for (std::size_t i = first; i < first + ways; ++i) {
        if (slots_[i].tag == tag) {
            return &slots_[i];
        }
    }
    return nullptr;
}

void ContextTable::learn(std::uint64_t key, std::uint32_t value) {
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
                slot.run = std::min(slot.run + 1, most_run);
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

} // namespace mmioscope::analysis
