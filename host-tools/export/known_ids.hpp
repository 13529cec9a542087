// Ids of things that a database names only once. Keeps some in memory, the others in a table of the
// database's temporary file.
#pragma once

#include "export/database.hpp"

#include <cstddef>
#include <cstdint>
#include <map>
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
    struct Held {
        std::uint64_t number;
        bool stored; ///< is in the table, too
    };
    void spill();

    std::size_t most_;
    std::map<std::string, Held, std::less<>> held_;
    std::uint64_t count_ = 0;
    bool any_stored_ = false;
    Statement store_;
    Statement find_;
};

} // namespace mmioscope::exporting
