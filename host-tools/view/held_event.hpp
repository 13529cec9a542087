// An event that is kept while others are read.
#pragma once

#include "mmioscope/event.hpp"

#include <optional>
#include <string>

namespace mmioscope::view {

class HeldEvent {
public:
    explicit HeldEvent(const Event& event)
        : event_(event), record_(*event.record), device_(event.device), interrupt_(event.interrupt),
          text_(event.text), code_(copy(event.code)), caller_(copy(event.caller)) {}

    /// As it was; good as long as this is.
    Event event() const {
        Event event = event_;
        event.record = &record_;
        event.device = device_;
        event.interrupt = interrupt_;
        event.text = text_;
        event.code = code_ ? &*code_ : nullptr;
        event.caller = caller_ ? &*caller_ : nullptr;
        return event;
    }
    const abi::Record& record() const { return record_; }

    /// What is left when its trace is closed.
    void forget_names() {
        event_.reg = nullptr;
        event_.task = nullptr;
    }

private:
    static std::optional<Location> copy(const Location* location) {
        return location != nullptr ? std::optional(*location) : std::nullopt;
    }

    Event event_;
    abi::Record record_;
    std::string device_;
    std::string interrupt_;
    std::string text_;
    std::optional<Location> code_;
    std::optional<Location> caller_;
};

} // namespace mmioscope::view
