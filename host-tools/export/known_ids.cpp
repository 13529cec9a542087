#include "export/known_ids.hpp"

#include <fmt/format.h>

namespace mmioscope::exporting {

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
