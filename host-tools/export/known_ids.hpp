// Ids of what a database names once: so many are in memory, the others in a table of the database's
// temporary file.
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
    /// `table` is a name of its own among those of `database`.
    KnownIds(Database& database, const std::string& table, std::size_t most = 512);

    struct Id {
        std::uint64_t number; ///< from 1 on, in the order in which they were asked for
        bool fresh;           ///< nobody has asked for it before
    };
    /// That of what `key`, of any bytes but not empty, stands for. Throws Error (failed).
    Id of(std::string_view key);

private:
    struct Held {
        std::uint64_t number;
        bool stored; ///< in the table, too
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
