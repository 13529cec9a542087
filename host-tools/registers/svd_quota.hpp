// Limits what one SVD file can expand to, since <dim> and derivedFrom repeat what is written once.
#pragma once

#include "registers/svd_node.hpp"

#include <cstddef>

namespace mmioscope::registers {

class SvdQuota {
public:
    /// The file is refused as a whole.
    struct Exceeded : Error {
        using Error::Error;
    };

    // Each function throws Exceeded at `node` if the limit is exceeded.
    void entries(const SvdNode& node, std::size_t more) {
        take(node, entries_, more, most_entries, "registers, clusters and names of indices");
    }
    void fields(const SvdNode& node, std::size_t more) {
        take(node, fields_, more, most_fields, "fields and named values");
    }
    void text(const SvdNode& node, std::size_t more) {
        take(node, text_, more, most_text, "characters");
    }

    /// Takes again what was taken between these two copies.
    void repeat(const SvdNode& node, const SvdQuota& before, const SvdQuota& after) {
        entries(node, after.entries_ - before.entries_);
        fields(node, after.fields_ - before.fields_);
        text(node, after.text_ - before.text_);
    }

private:
    static constexpr std::size_t most_entries = 65536;
    static constexpr std::size_t most_fields = 1u << 20;
    static constexpr std::size_t most_text = 64u << 20;

    static void take(const SvdNode& node, std::size_t& taken, std::size_t more, std::size_t most,
                     const char* what) {
        if (more > most - taken) {
            const Error error = node.error("more than {} {}", most, what);
            throw Exceeded(error.status(), error.what());
        }
        taken += more;
    }

    std::size_t entries_ = 0;
    std::size_t fields_ = 0;
    std::size_t text_ = 0;
};

} // namespace mmioscope::registers
