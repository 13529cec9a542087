// Who called a function that runs, by the kernel's own unwind tables and the words of its stack
// (Exception Handling ABI for the Arm Architecture, IHI 0038).
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <vector>

namespace mmioscope::symbols {

/// The opcodes (IHI 0038, 10.3) that undo the frame of a function; empty: it has no caller.
using Opcodes = std::span<const std::uint8_t>;

/// The opcodes of each function of a kernel, or of a module.
class UnwindTable {
public:
    using BeginsCode = std::function<bool(std::uint32_t address)>;

    UnwindTable() = default;
    /// Finds the index in `memory`, which lies at `base`: nothing says where it is, but it is a row
    /// of at least `fewest` entries for ascending addresses for which `begins_code` holds.
    UnwindTable(std::span<const std::byte> memory, std::uint32_t base, std::size_t fewest,
                const BeginsCode& begins_code);
    /// Reads what bytes() made. Throws Error (bad_input) if it is damaged.
    explicit UnwindTable(std::span<const std::byte> packed);
    std::vector<std::byte> bytes() const;

    /// Adds that of the function at `start`; at most `longest` of them count. Call sort() behind
    /// the last one.
    void add(std::uint32_t start, Opcodes opcodes);
    void sort();
    /// Memory, approximately.
    std::size_t size() const { return entries_.size() * sizeof(Entry) + opcodes_.size(); }
    /// Of the function that contains `pc`; nothing: the table begins behind it. An entry ends where
    /// the next one begins.
    std::optional<Opcodes> find(std::uint32_t pc) const;

    bool empty() const { return entries_.empty(); }
    /// Calls `visit(start, opcodes)` for each function, by address.
    template <class Visit>
    void each(const Visit& visit) const {
        for (const Entry& entry : entries_) {
            visit(entry.start, opcodes_of(entry));
        }
    }

    static constexpr std::size_t longest = 255;

private:
    struct Entry {
        std::uint32_t start;
        std::uint32_t first; ///< of its opcodes, in all
        std::uint8_t count;
    };
    Opcodes opcodes_of(const Entry& entry) const {
        return Opcodes(opcodes_).subspan(entry.first, entry.count);
    }

    std::vector<Entry> entries_; ///< by address
    std::vector<std::uint8_t> opcodes_;
};

/// r0 to r15.
using CoreRegisters = std::array<std::uint32_t, 16>;
/// The word of the stack at an address; nothing: it is not known.
using StackWord = std::function<std::optional<std::uint32_t>(std::uint32_t address)>;

enum class Unwound {
    no,          ///< the opcodes are damaged, or need a word that is not known: nothing has changed
    called,      ///< PC is the return address
    interrupted, ///< PC is where an exception was taken: it was saved as such
};

/// Undoes the frame of one function.
Unwound unwind(Opcodes opcodes, CoreRegisters& registers, const StackWord& word);

/// What is known about code.
class CodeFacts {
public:
    virtual ~CodeFacts() = default;
    /// Of the function that contains `pc`; nothing: it has none.
    virtual std::optional<Opcodes> opcodes(std::uint32_t pc) = 0;
    /// Where the function that contains `pc` begins; 0: that is no known code.
    virtual std::uint32_t function(std::uint32_t pc) = 0;
};

inline constexpr std::size_t most_frames = 64;

/// The functions that have not returned to the one at PC, the innermost first, at most most_frames:
/// for each the address before the one to which it will be returned, which is odd and in the call,
/// or, if it was interrupted, the address of its next instruction. Right, or shorter. `known`: the
/// innermost return address, if it is. `called`: PC is the first instruction of its function.
std::vector<std::uint32_t> callers_of(CoreRegisters registers, CodeFacts& code,
                                      const StackWord& word, std::uint32_t known = 0,
                                      bool called = false);

} // namespace mmioscope::symbols
