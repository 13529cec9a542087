#include "analysis/register_score.hpp"

#include "analysis/open_interrupts.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
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
    const bool given = interrupts_given_ && access.value && takes_interrupt(event);
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
    fed_.take(access, model_);
    if (!access.write && access.value && !data && !given) {
        access.value = free_value_;
    }
    free_.take(access, model_);
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
    tell_left_out(table.left_out, left_out_, "reads in situations", situations_.most());
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

} // namespace mmioscope::analysis
