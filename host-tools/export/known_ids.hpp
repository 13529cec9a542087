// Ids of things that a database names only once. Keeps the first ones in memory, the others in a
// table of the database's temporary file.
#pragma once

#include "export/database.hpp"
#include "system/capped_map.hpp"

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace mmioscope::exporting {

class KnownIds {
public:
    /// `table` must be unique in `database`.
    KnownIds(Database& database, const std::string& table, std::size_t most = 512);

    struct Id {
        std::uint64_t number; ///< from 1, in the order of the first requests
        bool fresh;           ///< this is the first request for it
    };
    /// The id of `key`, which has at least one byte, of any value. Throws Error (failed).
    Id of(std::string_view key);

private:
    CappedNames<std::uint64_t> held_;
    std::uint64_t count_ = 0;
    Statement store_;
    Statement find_;
};

} // namespace mmioscope::exporting
