// Common Trace Format 1.8: a folder with a description and a stream for each CPU.
#pragma once

#include "export/ctf_stream.hpp"
#include "export/exporter.hpp"
#include "export/value_text.hpp"
#include "reading/kept.hpp"
#include "records/ticks.hpp"

#include <algorithm>
#include <array>
#include <memory>

namespace mmioscope::exporting {

class Ctf : public Exporter {
public:
    /// Fills `folder`, whose name in errors is `name`.
    Ctf(std::filesystem::path folder, std::string name);

    void begin(const trace::TraceReader& reader) override;
    void add(const Event& event) override;
    void add_all(std::span<const Event> events) override;
    void forget() override { values_.forget(), interrupts_.forget(); }
    void finish() override;
    std::vector<std::string> left_out() const override;

private:
    /// Fields of accesses that share a context. Numbers that do not depend on it have places in
    /// them, and are filled in after copying.
    struct OfContext {
        Piece place; ///< device, offset, register, size, and the value from value_at on
        ValueText::OfContext value;
        Piece code; ///< from the address to comm
        std::uint32_t value_at = 0;
        std::uint32_t lr_at = 0;
        std::uint32_t stack_at = 0; ///< sp and va
        std::size_t size = 0;       ///< of all texts
    };

    /// As in all formats, a time before the start becomes 0.
    std::uint64_t since_start(std::uint64_t time) const { return time - std::min(time, start_); }
    CtfStream& begin_stream(std::uint8_t cpu);
    CtfStream& stream(std::uint8_t cpu);
    OfContext& context(const Event& event);
    void make(OfContext& to, const Event& event) const;
    void add_place(CtfStream& to, const Event& event);

    std::filesystem::path folder_;
    std::string name_;
    std::uint64_t start_ = 0;
    trace::TickLength tick_{0};
    std::vector<std::byte> header_;                       ///< of packets
    std::array<std::unique_ptr<CtfStream>, 256> streams_; ///< by CPU
    reading::KeptByContext<OfContext, 512> contexts_;
    OfContext other_;
    ValueText values_;
    InterruptText interrupts_;
    FlagText flags_;
};

/// Whether replacing `folder` loses nothing: it is empty, or holds only a CTF trace as this program
/// writes it.
bool is_ctf_trace(const std::filesystem::path& folder);

} // namespace mmioscope::exporting
