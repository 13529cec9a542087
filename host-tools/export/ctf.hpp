// Common Trace Format 1.8: a folder with a description and a stream for each CPU.
#pragma once

#include "export/ctf_stream.hpp"
#include "export/exporter.hpp"

#include <map>

namespace mmioscope::exporting {

class Ctf : public Exporter {
public:
    /// Fills `folder`, which errors call `name`.
    Ctf(std::filesystem::path folder, std::string name);

    void begin(const trace::TraceReader& reader) override;
    void add(const Event& event) override;
    void finish() override;
    std::vector<std::string> left_out() const override;

private:
    CtfStream& stream(std::uint8_t cpu);

    std::filesystem::path folder_;
    std::string name_;
    std::vector<std::byte> header_; ///< of packets
    std::map<std::uint8_t, CtfStream> streams_;
};

/// Whether nothing would be lost if `folder` were replaced: it is empty, or holds a CTF trace as
/// this program writes it, and nothing else.
bool is_ctf_trace(const std::filesystem::path& folder);

} // namespace mmioscope::exporting
