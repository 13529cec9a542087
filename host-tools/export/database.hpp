// An SQLite database for sequential writing, and its statements.
#pragma once

#include "system/capped_map.hpp"

#include <sqlite3.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

namespace mmioscope::exporting {

class Statement;

class Database {
public:
    /// Writes to `path`, an empty file; one thread at a time uses it. `name` is what errors call
    /// it. Throws Error (bad_input); all else here throws Error (failed).
    Database(const std::string& path, std::string name);

    /// Runs statements that return nothing.
    void run(const char* statements);
    Statement prepare(const char* statement);

    [[noreturn]] void fail() const;

private:
    struct Close {
        void operator()(sqlite3* database) const { sqlite3_close_v2(database); }
    };
    std::string name_;
    std::unique_ptr<sqlite3, Close> database_;
};

/// A statement to run repeatedly. Parameters are bound in order; an empty text becomes null.
class Statement {
public:
    Statement& operator<<(std::uint64_t number); ///< from 2^63: as a negative number
    Statement& operator<<(std::string_view text);
    Statement& null();
    void run();
    /// The first number of the first row; nothing if there are no rows.
    std::optional<std::uint64_t> number();

private:
    friend class Database;
    Statement(Database& database, sqlite3_stmt* statement)
        : database_(database), statement_(statement) {}

    struct Finalize {
        void operator()(sqlite3_stmt* statement) const { sqlite3_finalize(statement); }
    };
    Database& database_;
    std::unique_ptr<sqlite3_stmt, Finalize> statement_;
    int bound_ = 0;
};

// Ids of things that a database names only once. Keeps the first ones in memory, the others in a
// table of the database's temporary file.

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
