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
    : most_(most), store_(made(database, table)),
      find_(database.prepare(fmt::format("SELECT id FROM temp.{} WHERE key = ?", table).c_str())) {}

KnownIds::Id KnownIds::of(std::string_view key) {
    auto known = held_.lower_bound(key);
    if (known != held_.end() && known->first == key) {
        return {known->second.number, false};
    }
    if (held_.size() == most_) {
        spill();
        known = held_.end();
    }
    const std::optional<std::uint64_t> stored =
        any_stored_ ? (find_ << key).number() : std::optional<std::uint64_t>();
    const std::uint64_t number = stored ? *stored : ++count_;
    held_.emplace_hint(known, std::string(key), Held{number, stored.has_value()});
    return {number, !stored};
}

void KnownIds::spill() {
    for (const auto& [key, id] : held_) {
        if (!id.stored) {
            (store_ << key << id.number).run();
        }
    }
    any_stored_ = true;
    held_.clear();
}

} // namespace mmioscope::exporting
