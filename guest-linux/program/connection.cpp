#include "connection.hpp"

#include "say.hpp"
#include "system/error.hpp"

#include <chrono>
#include <thread>

namespace mmioscope::guest {

namespace {

using namespace std::chrono_literals;

constexpr wire::Patience turn = 100ms;

} // namespace

Connection::Connection(const wire::Address& address, std::function<bool()> stopping)
    : name_(address.text), opener_(wire::open_socket(address)),
      stopping_(std::move(stopping)) {}

FileDescriptor Connection::open() {
    for (;;) {
        wire::Opened opened = opener_->open(turn);
        if (opened.file) {
            return std::move(opened.file);
        }
        if (stopping_()) {
            throw Error(Status::interrupted, name_ + ": stopped before it was open");
        }
    }
}

FileDescriptor Connection::open_again(const std::string& why) {
    constexpr unsigned patience = 30; // turns
    say(fmt::format("{}: {}; trying to open it again", name_, why));
    for (unsigned turns = 0; turns < patience; turns += stopping_() ? 1 : 0) {
        if (FileDescriptor file = try_again()) {
            say(name_ + ": open again");
            return file;
        }
    }
    throw failure("{}: {}, and it cannot be opened again", name_, why);
}

/// Waits for a turn if nobody answers.
FileDescriptor Connection::try_again() {
    try {
        return std::move(opener_->open(turn).file);
    } catch (const Error&) {
        std::this_thread::sleep_for(turn);
        return {};
    }
}

} // namespace mmioscope::guest
