// The description of one kind of device: its registers, from a description file or an SVD file.
#pragma once

#include "mmioscope/event.hpp"
#include "system/error.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace mmioscope::registers {

/// Limit for offsets in a device, so that sums do not overflow.
inline constexpr std::uint64_t address_space = std::uint64_t{1} << 40;

enum class Direction : std::uint8_t { both, read, write };

/// Registers or blocks that repeat at equal distances.
struct Series {
    std::string prefix;      ///< the name before the index
    std::uint64_t first = 0; ///< index of the first
    std::uint64_t count = 1;
    std::uint64_t step = 0;          ///< bytes from one to the next
    std::vector<std::string> labels; ///< labels in place of numbers
};

/// An entry applies while a field of another register has this value.
struct Condition {
    std::uint64_t offset = 0; ///< of the other register
    unsigned low = 0;
    unsigned width = 1;
    std::uint64_t value = 0;
};

/// One line of a description: a register, or an array of them.
struct Entry {
    std::vector<Series> series; ///< outermost first
    Register first;     ///< with the offset of the first; its name is the part after the last index
    std::string prefix; ///< prefix of the name in the manual
    Direction direction = Direction::both;
    bool overlaps = false; ///< shares its bytes with others on purpose
    unsigned line = 0;     ///< in its file; 0: none
    std::optional<Condition> when;
    /// Not empty: it is written before its command, which carries that out if all of these hold.
    std::vector<Condition> before;
};

/// Also takes the entries of another device.
struct Inclusion {
    std::string name;
    std::string file; ///< SVD file that has it; empty: a description
    std::uint64_t offset = 0;
    std::string where; ///< "file:line", for errors
};

/// What names a field of another register, which an inclusion may bring.
struct Later {
    std::size_t entry = 0; ///< index of the entry that has it
    std::string field;     ///< "LCR.DLAB=1", a condition, or "MII_CMD.REG"
    std::string device;    ///< the one whose registers that field chooses; empty: a condition
    std::vector<std::string> before = {}; ///< conditions for Entry::before
    std::string where;                    ///< "file:line", for errors
};

struct Description {
    std::string name;
    std::string title;
    std::string where; ///< "file:line"
    std::vector<std::string> compatible;
    unsigned reg_index = 0;
    std::uint64_t address = 0; ///< of an SVD peripheral
    std::string prefix;
    std::vector<Entry> entries;
    std::vector<Inclusion> inclusions;
    std::vector<Later> later;
};

/// What of a file could not be used.
struct LeftOut {
    std::size_t count = 0;
    std::string first; ///< the first reason, "FILE:LINE: ..."; empty: none
};

/// The index or label number `index` of `series`, counted from 0, in names.
std::string label(const Series& series, std::uint64_t index);

/// Bytes from the start of the first register of `entry` to the end of the last.
std::uint64_t extent(const Entry& entry);

/// The offset of the register of `entry` that contains byte `offset`; nothing if none does.
std::optional<std::uint64_t> start_of(const Entry& entry, std::uint64_t offset);

/// The register of `entry` that begins at `start`, with its own name and offset.
Register instance(const Entry& entry, std::uint64_t start);

/// The entry without indices that has this name; null if there is none.
const Entry* plain(const Description& description, std::string_view name);

/// The condition "REGISTER.FIELD=VALUE", or "REGISTER.FIELD" with the value 0; nothing if no
/// register without indices has such a field.
std::optional<Condition> condition(const Description& description, std::string_view text);

constexpr bool allows(Direction direction, bool write) {
    return direction == Direction::both || (direction == Direction::write) == write;
}

struct Overlap {
    std::string text;  ///< for people
    unsigned line = 0; ///< of the later one
};

/// Two registers of `description` that share bytes in one direction, although neither says so.
std::optional<Overlap> overlap(const Description& description);

// The names of a description's registers.

/// Limit of the number of names.
inline constexpr std::size_t most_names = 65'536;

/// Adds the names of all registers of `description`, including arrays; false if `to` reaches the
/// limit.
bool add_names(const Description& description, std::vector<std::string>& to);

// Reads description files; mmioscope-registers(5) has the syntax.

/// Parses the devices in `text`; errors refer to `file`, beginning at a line of it. Throws Error
/// (bad_input): one line, "FILE:LINE: ...".
std::vector<Description> read_regs(std::string_view text, const std::string& file,
                                   unsigned line = 1);

// Reads CMSIS-SVD files: peripherals with their registers, clusters, fields and named values.

/// The peripherals of `text`, with their addresses but without `compatible`. `derivedFrom`, `dim`
/// and inherited values are resolved; a register whose values have other names when written is
/// there twice, once for each direction. What cannot be used is left out, the rest stays. Throws
/// Error (bad_input), one line, "FILE:LINE: ...", if this is no SVD file, no peripheral of it can
/// be used, or it expands to more than SvdQuota allows.
std::vector<Description> read_svd(std::string_view text, const std::string& file,
                                  LeftOut& left_out);

// One line of a description file, parsed word by word.

/// "GICD_IPRIORITYR[0..254]" split into the part before the index, the indices, and the part after
/// it.
struct IndexedName {
    std::string before;
    bool indexed = false;
    Series series; ///< without its step
    std::string behind;
};

class RegsLine {
public:
    /// Line `number` of `file`. Ignores everything after '#'.
    RegsLine(std::string_view text, std::string_view file, unsigned number);

    std::string where() const { return fmt::format("{}:{}", file_, number_); }
    unsigned line() const { return number_; }

    /// The next word; empty at the end, or if only the description is left.
    std::string_view peek() const;
    std::string_view word();

    /// The next word, which must exist; `what` describes it in the error.
    std::string_view need(std::string_view what);
    std::uint64_t need_number(std::string_view what);

    /// The text after " : ", without surrounding spaces.
    const std::string& description() const { return description_; }

    /// Throws if there is another word.
    void finish() const;

    template <typename... Args>
    Error error(fmt::format_string<Args...> text, Args&&... args) const {
        return bad_input("{}: {}", where(), fmt::format(text, std::forward<Args>(args)...));
    }

private:
    std::string_view file_;
    unsigned number_;
    std::string text_;
    std::string description_;
    std::string_view rest_;
};

/// Throws with the place of `line` if this is not a name.
IndexedName indexed_name(const RegsLine& line, std::string_view text);

// Fields of a register, as written in description files.

/// Appends the fields of "[7:4] NAME 0=off 1=on". NAME may have indices: then there are several
/// adjacent fields.
void read_field(RegsLine& line, unsigned register_bits, std::vector<Field>& to);

// Numbers as written in descriptions.

/// All of `text` as a decimal number, or hexadecimal after "0x"; nothing if it is neither.
std::optional<std::uint64_t> number(std::string_view text);

} // namespace mmioscope::registers
