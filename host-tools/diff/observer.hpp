// Collects from the events of one boot what boots are compared by.
#pragma once

#include "abi/record.hpp"
#include "analysis/loop.hpp"
#include "diff/boot.hpp"
#include "filter/filter.hpp"
#include "reading/drive.hpp"
#include "reading/kept.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <unordered_map>
#include <vector>

namespace mmioscope::diff {

// What each thread has read from each register: a driver changes some bits of that, and writes it
// back. And which bits a register does not keep: a command, not a change.

class LastReads {
public:
    struct Found {
        /// For a write: what the thread had last read from the register; nothing if unknown.
        std::optional<std::uint64_t> read;
        /// For a read: bits that are 0, where the thread's last write was to this register, and
        /// wrote them as 1.
        std::uint64_t unkept = 0;
    };
    /// Adds an access of `thread` at `site`. `wrote` is the site of the thread's last write before
    /// it.
    Found next(analysis::Thread thread, const abi::Record& record, std::uint32_t site,
               std::uint32_t wrote);

private:
    struct Key {
        std::uint64_t address = 0;
        analysis::Thread thread = 0;
        bool operator==(const Key&) const = default;
    };
    struct KeyHash {
        std::size_t operator()(const Key& key) const {
            return reading::mixed(key.address ^ std::uint64_t{key.thread} << 32) >> 20;
        }
    };
    struct Last {
        std::optional<std::uint64_t> read;
        std::uint64_t written = 0;
        std::uint32_t site = Sites::none; ///< that wrote it
    };
    /// At this limit, forgets all of them.
    static constexpr std::size_t most = 1 << 16;

    Last& find(const Key& key);

    std::unordered_map<Key, Last, KeyHash> all_;
    Key key_;              ///< of the access before
    Last* last_ = nullptr; ///< its entry; null: there was none
};

// The previous write to the same device in the same thread.

class LastWrites {
public:
    /// Adds `token`, the next write of `thread` to `device`. Returns the previous one; nothing if
    /// there is none, or if it is equal.
    std::optional<Token> next(analysis::Thread thread, std::uint16_t device, Token token);

private:
    /// At this limit, forgets all of them.
    static constexpr std::size_t most = 1 << 16;

    std::unordered_map<std::uint64_t, Token> last_; ///< by thread and device
};

// Finds bursts: writes of one thread to one register, with no other access of that thread to the
// device between them. A packet in a FIFO is one.

class OpenBursts {
public:
    explicit OpenBursts(Boot& boot) : boot_(boot) {}

    /// Adds the next access of `thread`, number `event` of the trace. A burst that it ends is
    /// counted in the boot; one that the trace ends is not.
    void add(analysis::Thread thread, const abi::Record& record, std::uint32_t site,
             std::uint64_t event);

private:
    struct Word {
        std::uint32_t site = 0;
        std::uint64_t value = 0;
    };
    struct Open {
        std::uint64_t address = 0;
        std::uint64_t first = 0;
        std::uint32_t length = 0;
        std::vector<Word> words; ///< the first Burst::most_words
    };

    /// At this limit, forgets threads that are in no burst; if none, all of them.
    static constexpr std::size_t most = 1 << 10;

    Open& opened(std::uint64_t key);
    void end(Open& open);

    Boot& boot_;
    std::unordered_map<std::uint64_t, Open> open_; ///< by thread and device
};

// Where a thread had been before it came to a device: the driver that it works for. And where it
// wrote last.

/// Where one thread is. Sites::none: nowhere.
struct Stay {
    std::uint16_t device = 0;
    std::uint32_t site = Sites::none;   ///< of the last access
    std::uint32_t before = Sites::none; ///< of the last one to another device
    std::uint32_t wrote = Sites::none;  ///< of the last write

    /// Adds an access at `at`. Returns the site of the last access to another device.
    std::uint32_t next(const abi::Record& record, std::uint32_t at) {
        if (device != record.device) {
            before = site;
            device = record.device;
        }
        if (abi::is_write(record)) {
            wrote = at;
        }
        site = at;
        return before;
    }
};

class Stays {
public:
    /// Valid until the next call.
    Stay& of(analysis::Thread thread) {
        if (last_ == nullptr || thread != last_thread_) {
            find(thread);
        }
        return *last_;
    }

private:
    /// At this limit, forgets all of them.
    static constexpr std::size_t most = 1 << 16;

    void find(analysis::Thread thread) {
        if (stays_.size() == most) {
            stays_.clear();
        }
        last_ = &stays_[thread];
        last_thread_ = thread;
    }

    std::unordered_map<analysis::Thread, Stay> stays_;
    Stay* last_ = nullptr; ///< of last_thread_; null: there was none
    analysis::Thread last_thread_ = 0;
};

class Observer final : public reading::Consumer {
public:
    /// Fills `boot` with the accesses that match `wanted`; null: all. `renamed`: the names of its
    /// devices in the comparison. The other arguments outlive this.
    Observer(Sites& sites, Boot& boot, filter::Filter* wanted = nullptr, Renamed renamed = {})
        : sites_(sites), boot_(boot), wanted_(wanted), renamed_(std::move(renamed)),
          open_bursts_(boot) {}

    void add(const Event& event) override { add_all({&event, 1}); }
    void add_all(std::span<const Event> events) override;
    void forget() override;

private:
    /// The parts of an access that determine its site.
    struct Key {
        std::uint64_t place = ~std::uint64_t{0}; ///< ids of the place and of the code
        std::uint64_t access = 0; ///< size and direction, and the address of code without a name
        bool operator==(const Key&) const = default;
    };
    struct KeyHash {
        std::size_t operator()(const Key& key) const {
            return reading::mixed(key.place ^ reading::mixed(key.access)) >> 20;
        }
    };
    struct Known {
        std::uint32_t site = Sites::none;
        bool wanted = false;
        bool interrupt = false; ///< the access is about interrupts
    };

    static constexpr std::size_t most_known = 1 << 14;

    static Key key_of(const Event& event);
    const Known& known(const Event& event);
    Known make(const Event& event);
    void take(const Event& event);
    void pair(analysis::Thread thread, const abi::Record& record, Token token);
    std::uint32_t count(Use& use, const Event& event, std::uint32_t behind,
                        std::optional<std::uint64_t> read);

    Sites& sites_;
    Boot& boot_;
    filter::Filter* wanted_;
    Renamed renamed_;
    analysis::Threads threads_;
    LastWrites last_writes_;
    LastReads last_reads_;
    Stays stays_;
    OpenBursts open_bursts_;
    std::unordered_map<Key, Known, KeyHash> known_; ///< at most most_known
};

} // namespace mmioscope::diff
