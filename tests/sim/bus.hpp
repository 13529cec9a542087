// The bus and its devices. It logs every access that reaches it, from guest and hypervisor, as the
// reference for traces.
#pragma once

#include "base/address.hpp"

#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace mmioscope::sim {

struct BusAccess {
    std::uint64_t time{}; ///< CNTPCT
    std::uint64_t address{};
    std::uint64_t value{};
    unsigned cpu{};
    unsigned log2_size{};
    bool write{};
    bool by_hypervisor{};

    bool operator==(const BusAccess&) const = default;
};

/// A device answers reads and takes writes; offsets are relative to its first byte.
class Device {
public:
    virtual ~Device() = default;
    virtual std::uint64_t read(std::uint64_t offset, unsigned log2_size) = 0;
    virtual void write(std::uint64_t offset, unsigned log2_size, std::uint64_t value) = 0;
    /// Whether an access gets an external abort.
    virtual bool aborts(bool /*write*/) const { return false; }
    /// Whether a write gets an asynchronous one, after the CPU has continued.
    virtual bool aborts_late() const { return false; }
};

class Bus {
public:
    /// Replaces what was there before.
    void attach(Range range, std::unique_ptr<Device> device);

    bool aborts(std::uint64_t address, bool write) const;
    bool aborts_late(std::uint64_t address) const;
    /// Carries out `access` and logs it; sets a read's value.
    std::uint64_t carry_out(BusAccess access);

    /// The word that a table walk finds at `address`; walks are not logged.
    std::uint32_t walk(std::uint64_t address) const;

    const std::vector<BusAccess>& log() const { return log_; }

    /// Called when an access arrives, before its device.
    std::function<void(const BusAccess&)> on_arrival;

private:
    struct Place {
        Range range;
        std::unique_ptr<Device> device;
    };
    const Place* find(std::uint64_t address) const;

    std::vector<Place> places_;
    std::vector<BusAccess> log_;
};

/// Every read takes the next number, from any register, so repeated and lost reads show.
class Fifo : public Device {
public:
    std::uint64_t read(std::uint64_t, unsigned log2_size) override;
    void write(std::uint64_t, unsigned, std::uint64_t) override {}

private:
    std::uint64_t next_{0x8001'7f80}; ///< the low bytes show sign extension
};

/// Plain registers that keep what is written.
class Scratch : public Device {
public:
    std::uint64_t read(std::uint64_t offset, unsigned log2_size) override;
    void write(std::uint64_t offset, unsigned log2_size, std::uint64_t value) override;
    std::vector<std::uint8_t> bytes = std::vector<std::uint8_t>(0x10000);
};

/// Always answers with an external abort.
class Broken : public Scratch {
public:
    bool aborts(bool) const override { return true; }
};

/// Answers writes with an external abort.
class ReadOnly : public Scratch {
public:
    bool aborts(bool write) const override { return write; }
};

/// Answers writes with an external abort, so late that it is asynchronous.
class LateBroken : public Scratch {
public:
    void write(std::uint64_t, unsigned, std::uint64_t) override {}
    bool aborts_late() const override { return true; }
};

/// The transmitter of a PL011.
class UartSink : public Device {
public:
    explicit UartSink(std::string& text) : text_(text) {}
    std::uint64_t read(std::uint64_t, unsigned) override { return 0; }
    void write(std::uint64_t offset, unsigned, std::uint64_t value) override {
        if (offset == 0) text_ += static_cast<char>(value);
    }

private:
    std::string& text_;
};

/// The motherboard's registers: a command in SYS_CFGCTRL switches the machine off.
class SystemRegisters : public Scratch {
public:
    explicit SystemRegisters(std::function<void()> power_off) : power_off_(std::move(power_off)) {}
    void write(std::uint64_t offset, unsigned log2_size, std::uint64_t value) override;

private:
    std::function<void()> power_off_;
};

} // namespace mmioscope::sim
