// Events with names from a test; reading/naming.hpp finds those of a trace.
#pragma once

#include "mmioscope/event.hpp"

#include <cstdint>
#include <deque>
#include <string>
#include <string_view>

namespace mmioscope::test {

/// The names for an event.
struct Given {
    std::uint64_t nanoseconds = 0;
    std::string_view device = "-";
    std::uint64_t offset = 0;
    const Register* reg = nullptr;
    const Location* code = nullptr;
    const Location* caller = nullptr;
    const Task* task = nullptr;
    std::string_view interrupt = {};
    std::string_view text = {};
};

class GivenNames final : public Names {
public:
    Event event(const abi::Record& record, const Given& given) {
        Event event;
        event.record = record;
        event.nanoseconds = given.nanoseconds;
        event.names = this;
        event.ids.place = add(places_, {text(given.device), given.offset, given.reg});
        event.ids.code = given.code == nullptr ? no_id : add(locations_, given.code);
        event.ids.caller = given.caller == nullptr ? no_id : add(locations_, given.caller);
        event.ids.task = given.task == nullptr ? no_id : add(tasks_, given.task);
        event.ids.interrupt = given.interrupt.empty() ? no_id : add(texts_, text(given.interrupt));
        event.ids.text = given.text.empty() ? no_id : add(texts_, text(given.text));
        return event;
    }

private:
    void resolve(std::span<const Event> events) override {
        for (const Event& event : events) {
            if (event.ids.caller == unasked) {
                event.ids.place = event.ids.code = event.ids.caller = event.ids.task = no_id;
            }
        }
    }
    Id interrupt_of(const Event&) override { return no_id; }
    Id text_of(const Event&) override { return no_id; }
    Id intern(std::string_view of) override { return add(texts_, text(of)); }

    template <typename T>
    static Id add(std::vector<T>& to, T one) {
        to.push_back(one);
        return static_cast<Id>(to.size() - 1);
    }
    std::string_view text(std::string_view of) { return kept_.emplace_back(of); }

    std::deque<std::string> kept_;
};

/// `record` with the names of `given`, valid until the program ends.
inline Event given_event(const abi::Record& record, const Given& given = {}) {
    static GivenNames names;
    return names.event(record, given);
}

} // namespace mmioscope::test
