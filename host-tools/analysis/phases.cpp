#include "analysis/phases.hpp"

#include "analysis/count.hpp"
#include "reading/kept.hpp"
#include "records/ticks.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <utility>

namespace mmioscope::analysis {

namespace {

constexpr std::string_view boundaries[] = {"start", "marker", "probe", "idle"};

// Functions of the kernel that copy between memory and devices, for any driver.
bool copies(std::string_view function) {
    constexpr std::string_view copying[] = {"__raw_reads",  "__raw_writes", "_memcpy_fromio",
                                            "_memcpy_toio", "_memset_io",   "mmiocpy",
                                            "mmioset"};
    return std::ranges::any_of(
        copying, [function](std::string_view one) { return function.starts_with(one); });
}

// The module; of the kernel's own code what names of one driver's functions begin with. Empty: it
// is not known.
std::string_view driver_of(const Location* location) {
    if (location == nullptr) {
        return {};
    }
    if (!location->module.empty()) {
        return location->module;
    }
    const std::string_view name = location->function;
    if (copies(name)) {
        return {};
    }
    const std::size_t begin = std::min(name.find_first_not_of('_'), name.size());
    return name.substr(begin, name.find('_', begin) - begin);
}

// Its accesses are of interrupts, such as a timer's or those between CPUs: they alone end no gap.
bool is_of_gic(const Register* reg) {
    return reg != nullptr && (reg->name.starts_with("GICC_") || reg->name.starts_with("GICD_"));
}

// How many of `sorted` are `most` or less. Looks half as far each time, without a branch.
std::size_t number_up_to(const std::vector<std::uint32_t>& sorted, std::uint32_t most) {
    const std::uint32_t* at = sorted.data();
    for (std::size_t left = sorted.size(); left > 0; left /= 2) {
        const std::size_t half = (left + 1) / 2;
        at += at[half - 1] <= most ? half : 0;
    }
    return static_cast<std::size_t>(at - sorted.data());
}

// The function, and its caller if it is known.
std::pair<std::string, std::string> names_of(const Event& event) {
    std::pair<std::string, std::string> names;
    set_name(names.first, event, Key::function);
    if (event.caller() != nullptr) {
        set_name(names.second, event, Key::caller);
    }
    return names;
}

} // namespace

void Phases::add(const Event& event) {
    const abi::Record& record = event.record;
    polls_.add(event);
    if (record.type != abi::RecordType::access) {
        add_other(event);
        return;
    }
    const bool probes = options_.probes && !was_looked_at(record) && is_first_of_driver(event);
    const bool idle = options_.gap != 0 && last_ &&
                      trace::elapsed(*last_, event.nanoseconds) >= options_.gap &&
                      !is_of_gic(event.reg());
    if (probes || idle || number_ == 0) {
        pass_boundary(event, probes, idle);
    }
    if (!count(event).is_gic) {
        last_ = phase_->end = std::max<std::uint64_t>(phase_->end, event.nanoseconds);
    }
}

void Phases::add_other(const Event& event) {
    const abi::RecordType type = event.record.type;
    if (type == abi::RecordType::gap) {
        last_.reset(); // whether nothing happened is not known
    }
    if (type == abi::RecordType::marker && options_.markers && event.text_id() != no_id) {
        begin(Boundary::marker, event, std::string(event.text()));
    }
}

// One function that goes from device to device is one phase.
void Phases::pass_boundary(const Event& event, bool probes, bool idle) {
    auto [function, caller] = names_of(event);
    if (!probes || idle || function != prober_) {
        begin(probes ? Boundary::probe
              : idle ? Boundary::idle
                     : Boundary::start,
              event, function, std::move(caller));
    }
    if (probes) {
        prober_ = std::move(function);
    }
}

bool Phases::was_looked_at(const abi::Record& record) {
    const std::uint64_t site =
        reading::mixed(std::uint64_t{record.device} << 32 | record.pc) | 1; // 0 stands for none
    std::uint64_t& slot = sites_[site >> (64 - site_bits)];
    return std::exchange(slot, site) == site;
}

bool Phases::is_first_of_driver(const Event& event) {
    if (pairs_.size() == most_drivers) {
        return false;
    }
    const std::uint32_t driver = driver_at(event);
    if (driver == 0) {
        return false;
    }
    const std::uint16_t device = event.record.device;
    const std::uint64_t bit = device < 64 ? std::uint64_t{1} << device : 0;
    if ((devices_of_[driver - 1] & bit) != 0) {
        return false;
    }
    devices_of_[driver - 1] |= bit;
    return pairs_.insert(std::uint64_t{driver} << 32 | device).second;
}

// 0: it is not known. An address costs much more than a function that is known.
std::uint32_t Phases::driver_at(const Event& event) {
    const std::uint32_t pc = event.record.pc & ~1u;
    const std::size_t behind = number_up_to(starts_, pc);
    if (behind > 0 && pc - starts_[behind - 1] < functions_[behind - 1].size) {
        return functions_[behind - 1].driver;
    }
    const Location* const location = event.code();
    const std::string_view name = driver_of(location);
    std::uint32_t driver = 0;
    if (!name.empty()) {
        const auto next = static_cast<std::uint32_t>(drivers_.size() + 1);
        driver = drivers_.try_emplace(std::string(name), next).first->second;
        devices_of_.resize(drivers_.size());
    }
    if (location != nullptr && location->size != 0 && location->module.empty() && // modules move
        functions_.size() < most_functions) {
        const auto place = static_cast<std::ptrdiff_t>(behind);
        starts_.insert(starts_.begin() + place, pc - location->offset);
        functions_.insert(functions_.begin() + place, {location->size, driver});
    }
    return driver;
}

void Phases::begin(Boundary boundary, const Event& event, std::string name, std::string caller) {
    close();
    phase_ = &phases_.of(++number_);
    phase_->boundary = boundary;
    phase_->begin = phase_->end = event.nanoseconds;
    phase_->idle = last_ ? trace::elapsed(*last_, event.nanoseconds) : 0;
    phase_->event = event.number;
    phase_->name = std::move(name);
    phase_->caller = std::move(caller);
    if (begins_.size() == most_begins) {
        begins_.pop_front();
    }
    begins_.push_back({event.number, number_});
}

void Phases::close() {
    prober_.clear();
    if (number_ == 0) {
        return;
    }
    std::vector<const Used*> devices;
    for (const auto& [device, used] : used_) {
        devices.push_back(&used);
    }
    std::ranges::stable_sort(devices, std::greater<>(), &Used::accesses);
    std::stable_partition(devices.begin(), devices.end(),
                          [](const Used* used) { return !used->is_gic; });
    phase_->devices.clear(); // it may be the one for all that have no room
    for (const Used* used : devices) {
        phase_->devices +=
            fmt::format("{}{} {}", phase_->devices.empty() ? "" : ", ", used->name, used->accesses);
    }
    used_.clear();
    recent_.fill({});
}

const Phases::Used& Phases::count(const Event& event) {
    const abi::Record& record = event.record;
    ++(abi::is_write(record) ? phase_->writes : phase_->reads);
    Recent& recent = recent_[record.device % recent_.size()];
    if (recent.used == nullptr || recent.device != record.device) {
        recent = {record.device, used(event)};
    }
    if (recent.used == nullptr) {
        static const Used nameless;
        return nameless;
    }
    ++recent.used->accesses;
    return *recent.used;
}

Phases::Used* Phases::used(const Event& event) {
    const auto found = used_.find(event.record.device);
    if (found != used_.end()) {
        return &found->second;
    }
    if (used_.size() == most_devices) {
        return nullptr;
    }
    Used& used = used_[event.record.device];
    used.name = event.device();
    used.is_gic = is_of_gic(event.reg());
    return &used;
}

// A poll is found when its thread does something else, maybe in a later phase.
void Phases::add(const Poll& poll) {
    if (polls_.data().has(poll.read.record) || begins_.empty()) {
        return;
    }
    const auto after = std::ranges::upper_bound(begins_, poll.first.number, {}, &Begin::event);
    Phase& phase =
        phases_.of(after == begins_.begin() ? begins_.front().phase : std::prev(after)->phase);
    ++phase.polls;
    phase.polled += poll.nanoseconds();
}

void Phases::finish() {
    polls_.cut_all();
    close();
    number_ = 0;
}

table::Table Phases::table() {
    using enum table::Look;
    table::Table table{{{"phase", "phase", number, 5},
                        {"begin_ns", "begin s", seconds, 10},
                        {"time_ns", "seconds", seconds, 10},
                        {"idle_ns", "idle s", seconds, 10},
                        {"boundary", "from"},
                        {"name", "name"},
                        {"caller", "caller"},
                        {"reads", "reads", number, 8},
                        {"writes", "writes", number, 8},
                        {"polls", "polls", number, 6},
                        {"polled_ns", "polled s", seconds, 10},
                        {"event", "event", number, 8},
                        {"devices", "devices"}},
                       {}};
    table.more = [this](const table::TakeRow& take) {
        for (const auto& [number, phase] : phases_.held()) {
            take({number, phase.begin, phase.end - phase.begin, phase.idle,
                  boundaries[static_cast<std::size_t>(phase.boundary)], phase.name,
                  phase.caller.empty() ? table::Cell() : table::Cell(phase.caller), phase.reads,
                  phase.writes, phase.polls, phase.polled, phase.event, phase.devices});
        }
    };
    add_left_out(table.left_out, phases_.rest().reads + phases_.rest().writes, "accesses of phases",
                 phases_.most());
    return table;
}

} // namespace mmioscope::analysis
