// The section of a trace file that holds the names of the guest's code (abi/container.hpp).
#pragma once

#include "symbols/source.hpp"
#include "symbols/symbol.hpp"

#include <cstddef>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace mmioscope::symbols {

/// Its payload; empty if there are no symbols. Throws Error (bad_input) if they are more than a
/// file takes.
std::vector<std::byte> pack(std::span<const Symbol> symbols);

/// Throws Error (bad_input) if `payload` is nothing that pack() has made.
SymbolList unpack(std::span<const std::byte> payload);

/// The functions of a section, which is asked for and unpacked when the first address is looked up:
/// many commands need none.
class SectionFunctions : public Source {
public:
    using Payload = std::function<std::span<const std::byte>()>;
    using Report = std::function<void(const std::string&)>;

    /// `report` is told why there are none.
    SectionFunctions(Payload payload, Report report)
        : payload_(std::move(payload)), report_(std::move(report)) {}

    bool locate(std::uint32_t address, Location& to) override;
    Reach reach() override;

private:
    std::unique_ptr<Source> unpacked() const;
    Source& functions();

    Payload payload_;
    Report report_;
    std::unique_ptr<Source> functions_; ///< null before the first address
};

} // namespace mmioscope::symbols
