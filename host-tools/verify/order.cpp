#include "verify/order.hpp"

#include "abi/record.hpp"

#include <algorithm>
#include <limits>
#include <map>
#include <queue>

namespace mmioscope::verify {

namespace {

constexpr std::uint64_t never = std::numeric_limits<std::uint64_t>::max();

bool backwards(std::uint32_t before, std::uint32_t now) {
    return static_cast<std::int32_t>(now - before) <= 0;
}

/// The last event of a CPU or a device: its line, and its sequence number.
struct Last {
    bool seen = false;
    std::uint32_t line = 0;
    std::uint32_t sequence = 0;

    // Returns true if the next one is out of order.
    bool step(std::uint32_t next_line, std::uint32_t next_sequence) {
        const bool wrong = seen && (next_line < line || backwards(sequence, next_sequence));
        line = next_line;
        sequence = next_sequence;
        seen = true;
        return wrong;
    }
};

/// The latest line of all events that ended before a moment; moments only increase.
class Over {
public:
    void add(std::uint64_t end, std::uint32_t line) { running_.push({end, line}); }

    std::uint32_t latest_line(std::uint64_t moment) {
        while (!running_.empty() && running_.top().first < moment) {
            latest_ = std::max(latest_, running_.top().second);
            running_.pop();
        }
        return latest_;
    }

private:
    using Item = std::pair<std::uint64_t, std::uint32_t>;
    std::priority_queue<Item, std::vector<Item>, std::greater<>> running_;
    std::uint32_t latest_ = 0;
};

class OrderCheck {
public:
    bool wrong(const importing::Event& event, std::uint32_t line) {
        bool wrong = cpus_[event.cpu].step(line, event.cpu_sequence);
        if (event.device != abi::no_device && !event.own) {
            wrong |= devices_[event.device].step(line, event.lock_sequence);
        }
        wrong |= event.time < time_;
        time_ = event.time;
        return wrong | contradicts_time(event, line);
    }

private:
    bool contradicts_time(const importing::Event& event, std::uint32_t line) {
        const bool boot = (event.flags & abi::flag_boot) != 0;
        const bool early = (event.flags & abi::flag_early) != 0;
        const bool wrong = !boot && over_.latest_line(event.time) > line;
        over_.add(early ? never : event.time + event.duration, line);
        return wrong;
    }

    std::map<std::uint8_t, Last> cpus_;
    std::map<std::uint16_t, Last> devices_;
    Over over_;
    std::uint64_t time_ = 0;
};

} // namespace

std::vector<Difference> check_order(std::span<const importing::Event> events, const Matching& matching,
                                    const std::vector<bool>& altered) {
    std::vector<Difference> differences;
    OrderCheck check;
    for (std::uint32_t event = 0; event < events.size(); ++event) {
        const std::uint32_t line = matching.line_of[event];
        if (line != importing::nowhere && !altered[event] && check.wrong(events[event], line)) {
            differences.push_back({Kind::order, line, event});
        }
    }
    return differences;
}

} // namespace mmioscope::verify
