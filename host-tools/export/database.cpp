#include "export/database.hpp"

#include "system/error.hpp"

#include <fmt/format.h>

namespace mmioscope::exporting {

// Nobody reads it before it is complete, so there is no journal and no fsync.
Database::Database(const std::string& path, std::string name) : name_(std::move(name)) {
    // What it sorts for an index: by itself it would keep a MiB of that in memory. And nobody asks
    // how much memory it has.
    static const int configured =
        sqlite3_config(SQLITE_CONFIG_PMASZ, 32U) + sqlite3_config(SQLITE_CONFIG_MEMSTATUS, 0);
    static_cast<void>(configured); // too late where a program of the library's has used SQLite
    sqlite3* database = nullptr;
    const int flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOFOLLOW | SQLITE_OPEN_NOMUTEX;
    const int result = sqlite3_open_v2(path.c_str(), &database, flags, nullptr);
    database_.reset(database);
    if (result != SQLITE_OK) {
        throw bad_input("cannot write {}: {}", name_, sqlite3_errmsg(database));
    }
    run("PRAGMA journal_mode=OFF; PRAGMA synchronous=OFF; PRAGMA locking_mode=EXCLUSIVE;"
        "PRAGMA temp.journal_mode=OFF; PRAGMA temp_store=FILE;"
        "PRAGMA cache_size=-64; PRAGMA temp.cache_size=-64;");
}

void Database::run(const char* statements) {
    if (sqlite3_exec(database_.get(), statements, nullptr, nullptr, nullptr) != SQLITE_OK) {
        fail();
    }
}

Statement Database::prepare(const char* statement) {
    sqlite3_stmt* prepared = nullptr;
    if (sqlite3_prepare_v2(database_.get(), statement, -1, &prepared, nullptr) != SQLITE_OK) {
        fail();
    }
    return {*this, prepared};
}

void Database::fail() const {
    throw failure("cannot write {}: {}", name_, sqlite3_errmsg(database_.get()));
}

Statement& Statement::operator<<(std::uint64_t number) {
    sqlite3_bind_int64(statement_.get(), ++bound_, static_cast<sqlite3_int64>(number));
    return *this;
}

Statement& Statement::operator<<(std::string_view text) {
    if (text.empty()) {
        return null();
    }
    sqlite3_bind_text(statement_.get(), ++bound_, text.data(), static_cast<int>(text.size()),
                      SQLITE_TRANSIENT);
    return *this;
}

Statement& Statement::null() {
    sqlite3_bind_null(statement_.get(), ++bound_);
    return *this;
}

void Statement::run() {
    if (sqlite3_step(statement_.get()) != SQLITE_DONE) {
        database_.fail();
    }
    sqlite3_reset(statement_.get());
    bound_ = 0;
}

std::optional<std::uint64_t> Statement::number() {
    std::optional<std::uint64_t> found;
    const int result = sqlite3_step(statement_.get());
    if (result == SQLITE_ROW) {
        found = static_cast<std::uint64_t>(sqlite3_column_int64(statement_.get(), 0));
    } else if (result != SQLITE_DONE) {
        database_.fail();
    }
    sqlite3_reset(statement_.get());
    bound_ = 0;
    return found;
}

namespace {

Statement made(Database& database, const std::string& table) {
    database.run(fmt::format("CREATE TABLE temp.{} (key TEXT PRIMARY KEY, id INTEGER) "
                             "WITHOUT ROWID",
                             table)
                     .c_str());
    return database.prepare(fmt::format("INSERT INTO temp.{} VALUES (?,?)", table).c_str());
}

} // namespace

KnownIds::KnownIds(Database& database, const std::string& table, std::size_t most)
    : held_(most), store_(made(database, table)),
      find_(database.prepare(fmt::format("SELECT id FROM temp.{} WHERE key = ?", table).c_str())) {}

KnownIds::Id KnownIds::of(std::string_view key) {
    std::uint64_t& held = held_.of(key);
    if (!held_.is_rest(held)) {
        const bool fresh = held == 0;
        held = fresh ? ++count_ : held;
        return {held, fresh};
    }
    if (const std::optional<std::uint64_t> stored = (find_ << key).number()) {
        return {*stored, false};
    }
    (store_ << key << ++count_).run();
    return {count_, true};
}

} // namespace mmioscope::exporting
