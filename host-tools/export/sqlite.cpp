// A database: the trace as tables, with views for common questions (sqlite_schema.cpp).
#include "export/formats.hpp"

#include "records/kinds.hpp"
#include "records/record_text.hpp"
#include "records/ticks.hpp"
#include "records/verdict.hpp"
#include "system/escape.hpp"
#include "tree/device_names.hpp"
#include "tree/tree_nodes.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstring>
#include <map>
#include <optional>
#include <string>
#include <string_view>

namespace mmioscope::exporting {

// The tables and views of an export to SQLite.

extern const char sqlite_tables[];

/// Views for common questions. Created last: they hold no data.
extern const char sqlite_views[];

namespace {

/// Columns whose content is in other tables, and what events has instead.
struct Elsewhere {
    std::string_view column, id;
};
constexpr Elsewhere elsewhere[] = {{"device", ",device INTEGER REFERENCES devices"},
                                   {"register", ",register INTEGER REFERENCES registers"},
                                   {"function", ",code INTEGER REFERENCES symbols"},
                                   {"source", ""},
                                   {"caller", ",caller INTEGER REFERENCES symbols"},
                                   {"pid", ",task_id INTEGER REFERENCES tasks"},
                                   {"comm", ""},
                                   {"interrupt", ",interrupt INTEGER REFERENCES interrupts"},
                                   {"text", ""},
                                   {"lost", ""},
                                   {"payload", ""}};
/// For each column; null: events has it.
constexpr auto others = [] {
    std::array<const Elsewhere*, columns.size()> all{};
    for (const Elsewhere& one : elsewhere) {
        all[std::ranges::find(columns, one.column, &Column::column) - columns.begin()] = &one;
    }
    return all;
}();

std::string columns_of_events() {
    std::string sql = "id INTEGER PRIMARY KEY";
    for (std::size_t i = 0; i < columns.size(); ++i) {
        const std::string_view type = columns[i].cell == nullptr ? "INTEGER" : "TEXT";
        sql += others[i] != nullptr ? std::string(others[i]->id)
                                    : fmt::format(",\"{}\" {}", columns[i].column, type);
    }
    return sql;
}

Database with_tables(const std::string& path, const std::string& name) {
    Database database(path, name);
    database.run(sqlite_tables);
    database.run(fmt::format("CREATE TABLE events ({}); BEGIN", columns_of_events()).c_str());
    return database;
}

Statement insertion(Database& database) {
    const auto commas = static_cast<std::size_t>(std::ranges::count(columns_of_events(), ','));
    const auto sql =
        fmt::format("INSERT INTO events VALUES ({})", fmt::join(std::string(commas + 1, '?'), ","));
    return database.prepare(sql.c_str());
}

// As in the tree, the most specific first, separated by blanks.
std::string compatible(const tree::TreeNodes& nodes, const abi::RegionEntry& region) {
    const std::size_t node = nodes.find(tree::region_path(region));
    const std::string all =
        node == tree::TreeNodes::none
            ? ""
            : fmt::format("{}", fmt::join(nodes.strings(node, "compatible"), " "));
    return for_terminal(plain_text(all));
}

void put_cell(Statement& to, const Cell& cell) { // an empty text becomes null
    const auto* const hex = std::get_if<Hex>(&cell);
    const auto* const number = std::get_if<std::uint64_t>(&cell);
    hex != nullptr      ? to << hex->value
    : number != nullptr ? to << *number
                        : to << table::text_in(cell);
}

// Parts of a key.
void put(std::string& key, std::uint64_t number) {
    key.append(reinterpret_cast<const char*>(&number), sizeof number);
}
void put(std::string& key, std::string_view text) {
    key.append(text).push_back('\0');
}

class Sqlite : public Exporter {
public:
    /// Writes to `path`, an empty file, whose name in errors is `name`.
    Sqlite(const std::string& path, const std::string& name)
        : database_(with_tables(path, name)), event_(insertion(database_)),
          text_(database_.prepare("INSERT INTO texts VALUES (?,?)")),
          payload_(database_.prepare("INSERT INTO payloads VALUES (?,?)")),
          loss_(database_.prepare("INSERT INTO losses VALUES (?,?,?,?,?)")),
          register_(database_.prepare("INSERT INTO registers VALUES (?,?,?,?,?,?)")),
          symbol_(database_.prepare("INSERT INTO symbols VALUES (?,?,?,?,?,?)")),
          field_(database_.prepare("INSERT INTO fields VALUES (?,?,?,?,?)")),
          field_value_(database_.prepare("INSERT INTO field_values VALUES (?,?,?)")),
          task_(database_.prepare("INSERT INTO tasks VALUES (?,?,?,?)")),
          interrupt_(database_.prepare("INSERT INTO interrupts VALUES (?,?)")),
          registers_(database_, "known_registers"), tasks_(database_, "known_tasks"),
          symbols_(database_, "known_symbols") {}

    void begin(const trace::TraceReader& reader) override {
        reader_ = &reader;
        cells_ = Cells(reader);
        for (const auto& [key, value] : reader.text()) {
            meta("text:" + key, value);
        }
        if (reader.info()) {
            const abi::Info& info = *reader.info();
            meta("board", {info.board, ::strnlen(info.board, sizeof info.board)});
            meta("ticks_per_second", fmt::format("{}", info.counter_frequency));
            if (reader.knows("cpus")) {
                meta("cpus", fmt::format("{}", info.cpu_count));
            }
        }
        if (reader.policy()) {
            meta("policy", trace::policy_text(*reader.policy()));
        }
        Statement insert = database_.prepare("INSERT INTO devices VALUES (?,?,?,?,?,?)");
        const tree::TreeNodes nodes(reader.tree());
        for (std::size_t i = 0; i < reader.regions().size(); ++i) {
            const abi::RegionEntry& region = reader.regions()[i];
            (insert << i << reader.names()[static_cast<std::uint16_t>(i)]
                    << for_terminal(tree::region_path(region)) << region.base << region.size
                    << compatible(nodes, region))
                .run();
        }
    }

    void add(const Event& event) override {
        if (event.record.type == abi::RecordType::gap) {
            add_loss(event);
            return;
        }
        add_row(event);
        if (!event.text().empty()) {
            (text_ << rows_ << plain_text(event.text())).run();
        }
        if (const std::string payload = payload_words(event); !payload.empty()) {
            (payload_ << rows_ << payload).run();
        }
        if (rows_ % rows_per_transaction == 0) {
            database_.run("COMMIT; BEGIN");
        }
    }
    void finish() override {
        const trace::Lost lost = reader_->lost();
        meta("lost", fmt::format("{}", lost.events()));
        if (lost.records > 0 && lost.others) {
            meta("lost_others", fmt::format("{}", *lost.others));
        }
        if (!reader_->end() || reader_->ending()) {
            meta("ending", reader_->end() ? trace::ending_text(*reader_->ending()) : "cut off");
        }
        database_.run("COMMIT");
        database_.run(sqlite_views);
    }

private:
    void meta(std::string_view key, std::string_view value) {
        Statement insert = database_.prepare("INSERT OR REPLACE INTO meta VALUES (?,?)");
        (insert << for_terminal(key) << for_terminal(value)).run();
    }

    template <typename... Parts>
    std::string_view key(const Parts&... parts) {
        key_.clear();
        (put(key_, parts), ...);
        return key_;
    }

    void add_loss(const Event& event) {
        const abi::Record& r = event.record;
        reader_->knows("cpu") ? loss_ << r.cpu : loss_.null();
        (loss_ << r.cpu_sequence << r.value << event.nanoseconds << r.time).run();
    }

    void add_row(const Event& event) {
        event_ << ++rows_;
        for (std::size_t i = 0; i < columns.size(); ++i) {
            if (others[i] == nullptr) {
                put_cell(event_, cells_.of(i, event));
            } else if (!others[i]->id.empty()) {
                const std::uint64_t id = id_of(columns[i].column, event);
                id == none ? event_.null() : event_ << id;
            }
        }
        event_.run();
    }

    static constexpr std::uint64_t none = UINT64_MAX;

    std::uint64_t id_of(std::string_view column, const Event& event) {
        if (column == "device") {
            return event.record.device == abi::no_device ? none : event.record.device;
        }
        if (column == "register") {
            return event.reg() == nullptr ? none : register_id(event);
        }
        if (column == "pid") {
            return event.task() == nullptr ? none : task_id(*event.task());
        }
        if (column == "interrupt") {
            return event.interrupt().empty() ? none : interrupt_id(event.interrupt());
        }
        const bool caller = column == "caller"; // LR may not be its address
        const Location* const location = caller ? event.caller() : event.code();
        return location == nullptr || location->function.empty()
                   ? none
                   : symbol_id(caller ? std::nullopt : std::optional(event.record.pc), *location);
    }

    std::uint64_t register_id(const Event& event) {
        const Register& reg = *event.reg();
        const KnownIds::Id id = registers_.of(key(event.record.device, reg.offset, reg.name));
        if (id.fresh) {
            (register_ << id.number << event.record.device << reg.name << reg.offset << reg.size
                       << reg.description)
                .run();
            add_fields(id.number, reg);
        }
        return id.number;
    }

    void add_fields(std::uint64_t register_id, const Register& reg) {
        for (const Field& field : reg.fields) {
            (field_ << ++fields_ << register_id << field.name << field.low << field.width).run();
            for (const auto& [value, name] : field.values) {
                (field_value_ << fields_ << value << name).run();
            }
        }
    }

    std::uint64_t task_id(const Task& task) {
        const KnownIds::Id id = tasks_.of(key(task.pid, task.comm));
        if (id.fresh) {
            (task_ << id.number << task.pid << task.tgid << task.comm).run();
        }
        return id.number;
    }

    std::uint64_t interrupt_id(std::string_view name) {
        const auto found = interrupts_.find(name);
        if (found != interrupts_.end()) {
            return found->second;
        }
        const std::uint64_t id = interrupts_.size() + 1;
        interrupts_.emplace(name, id);
        (interrupt_ << id << name).run();
        return id;
    }

    std::uint64_t symbol_id(std::optional<std::uint32_t> address, const Location& location) {
        const KnownIds::Id id =
            symbols_.of(key(address ? *address + std::uint64_t{1} : 0, location.offset,
                            location.function, location.module));
        if (id.fresh) {
            symbol_ << id.number;
            address ? symbol_ << *address : symbol_.null();
            (symbol_ << location.function << location.offset << location.module
                     << source_words(&location))
                .run();
        }
        return id.number;
    }

    static constexpr std::uint64_t rows_per_transaction = 100'000;

    Cells cells_;
    Database database_;
    Statement event_;
    Statement text_;
    Statement payload_;
    Statement loss_;
    Statement register_;
    Statement symbol_;
    Statement field_;
    Statement field_value_;
    Statement task_;
    Statement interrupt_;
    // Names of one place may change with the direction, the register or the module.
    KnownIds registers_;
    KnownIds tasks_;
    KnownIds symbols_;
    std::string key_; ///< for one of these; kept to avoid allocations
    std::map<std::string, std::uint64_t, std::less<>> interrupts_;
    std::uint64_t fields_ = 0;
    std::uint64_t rows_ = 0;
    const trace::TraceReader* reader_ = nullptr;
};

} // namespace

const char sqlite_tables[] = R"(
CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT) WITHOUT ROWID;
CREATE TABLE devices (id INTEGER PRIMARY KEY, name TEXT, path TEXT, base INTEGER, size INTEGER,
    compatible TEXT);
CREATE TABLE registers (id INTEGER PRIMARY KEY, device INTEGER REFERENCES devices, name TEXT, offset INTEGER,
    size INTEGER, description TEXT);
CREATE TABLE fields (id INTEGER PRIMARY KEY, register INTEGER REFERENCES registers, name TEXT, low INTEGER, width INTEGER);
CREATE TABLE field_values (field INTEGER REFERENCES fields, value INTEGER, name TEXT);
CREATE TABLE interrupts (id INTEGER PRIMARY KEY, name TEXT);
CREATE TABLE symbols (id INTEGER PRIMARY KEY, address INTEGER, function TEXT, offset INTEGER, module TEXT,
    source TEXT);
CREATE TABLE tasks (id INTEGER PRIMARY KEY, pid INTEGER, tgid INTEGER, comm TEXT);
CREATE TABLE texts (event INTEGER PRIMARY KEY REFERENCES events, text TEXT);
CREATE TABLE payloads (event INTEGER PRIMARY KEY REFERENCES events, payload TEXT);
CREATE TABLE losses (cpu INTEGER, sequence INTEGER, count INTEGER, ns INTEGER, ticks INTEGER);
)";

const char sqlite_views[] = R"(
CREATE INDEX events_by_time ON events (ns);
CREATE INDEX events_by_register ON events (device, register);
CREATE INDEX fields_by_register ON fields (register);
CREATE VIEW trace AS
    SELECT e.id, e.ns / 1e9 AS seconds, e.cpu, e.type, e.dir, e.size, d.name AS device,
        CASE WHEN e.offset IS NOT NULL THEN printf('0x%x', e.offset) END AS offset, r.name AS register,
        CASE WHEN e.address IS NOT NULL THEN printf('0x%x', e.address) END AS address,
        CASE WHEN e.value IS NOT NULL THEN printf('0x%x', e.value) END AS value, e.fields,
        CASE WHEN e.pc IS NOT NULL THEN printf('0x%x', e.pc) END AS pc, s.function,
        c.function AS caller, t.pid, t.comm, i.name AS interrupt, x.text, e.flags,
        p.payload
    FROM events e LEFT JOIN devices d ON d.id = e.device LEFT JOIN registers r ON r.id = e.register
        LEFT JOIN symbols s ON s.id = e.code LEFT JOIN symbols c ON c.id = e.caller
        LEFT JOIN tasks t ON t.id = e.task_id LEFT JOIN texts x ON x.event = e.id
        LEFT JOIN interrupts i ON i.id = e.interrupt LEFT JOIN payloads p ON p.event = e.id;
-- What the fields held that an access had all bits of, also those of value 0.
CREATE VIEW field_contents AS
    SELECT c.event, c.seconds, c.device, c.register, c.field, c.value, v.name AS meaning
    FROM (SELECT e.id AS event, e.ns / 1e9 AS seconds, d.name AS device, r.name AS register, f.name AS field, f.id AS id,
              (e.value >> (f.low - 8 * (e.offset - r.offset))) & ((1 << f.width) - 1) AS value
          FROM events e JOIN registers r ON r.id = e.register JOIN fields f ON f.register = r.id
              JOIN devices d ON d.id = e.device
          WHERE e.value IS NOT NULL AND f.low >= 8 * (e.offset - r.offset)
              AND f.low + f.width <= 8 * (e.offset - r.offset + e.size)) c
        LEFT JOIN field_values v ON v.field = c.id AND v.value = c.value;
CREATE VIEW per_device AS
    SELECT d.name AS device, sum(e.dir = 'r') AS reads, sum(e.dir = 'w') AS writes, min(e.ns) / 1e9 AS first_seconds,
        max(e.ns) / 1e9 AS last_seconds
    FROM events e LEFT JOIN devices d ON d.id = e.device WHERE e.type = 'access' GROUP BY e.device;
CREATE VIEW per_register AS
    SELECT d.name AS device, printf('0x%x', e.offset) AS offset, r.name AS register, sum(e.dir = 'r') AS reads,
        sum(e.dir = 'w') AS writes
    FROM events e LEFT JOIN devices d ON d.id = e.device LEFT JOIN registers r ON r.id = e.register
    WHERE e.type = 'access' GROUP BY e.device, e.offset, e.register;
CREATE VIEW per_function AS
    SELECT coalesce(s.function, CASE WHEN e.pc IS NOT NULL THEN printf('0x%x', e.pc) END) AS function, d.name AS device, sum(e.dir = 'r') AS reads,
        sum(e.dir = 'w') AS writes
    FROM events e LEFT JOIN devices d ON d.id = e.device LEFT JOIN symbols s ON s.id = e.code
    WHERE e.type = 'access' GROUP BY 1, e.device;
CREATE VIEW per_task AS
    SELECT t.pid, coalesce(t.comm, CASE WHEN e.task IS NOT NULL THEN printf('0x%x', e.task) END) AS task, d.name AS device, sum(e.dir = 'r') AS reads,
        sum(e.dir = 'w') AS writes
    FROM events e LEFT JOIN devices d ON d.id = e.device LEFT JOIN tasks t ON t.id = e.task_id
    WHERE e.type = 'access' GROUP BY 1, 2, e.device;
CREATE VIEW per_interrupt AS
    SELECT i.name AS interrupt, sum(e.dir = 'r') AS reads, sum(e.dir = 'w') AS writes, min(e.ns) / 1e9 AS first_seconds,
        max(e.ns) / 1e9 AS last_seconds
    FROM events e JOIN interrupts i ON i.id = e.interrupt WHERE e.type = 'access' GROUP BY i.id;
CREATE VIEW per_cpu AS
    SELECT e.cpu, sum(e.dir = 'r') AS reads, sum(e.dir = 'w') AS writes,
        coalesce((SELECT sum(count) FROM losses l WHERE l.cpu = e.cpu), 0) AS lost
    FROM events e WHERE e.type = 'access' GROUP BY e.cpu;
-- Runs of at least three reads of one register by one instruction, with no other record of the CPU between.
CREATE VIEW polls AS
    SELECT d.name AS device, printf('0x%x', p.offset) AS offset, r.name AS register, p.cpu,
        CASE WHEN p.pc IS NOT NULL THEN printf('0x%x', p.pc) END AS pc, s.function, count(*) AS reads, min(p.ns) / 1e9 AS first_seconds, max(p.ns) / 1e9 AS last_seconds,
        sum(p.flags LIKE '%estimated%') AS estimated
    FROM (SELECT *, sequence - row_number() OVER (PARTITION BY cpu, address, pc, size ORDER BY id) AS run
          FROM events WHERE type = 'access' AND dir = 'r') p
        LEFT JOIN devices d ON d.id = p.device LEFT JOIN registers r ON r.id = p.register
        LEFT JOIN symbols s ON s.id = p.code
    GROUP BY p.cpu, p.address, p.pc, p.size, p.run HAVING count(*) >= 3 ORDER BY min(p.id);
CREATE VIEW markers AS
    SELECT e.ns / 1e9 AS seconds, e.cpu, x.text FROM events e JOIN texts x ON x.event = e.id
    WHERE e.type = 'marker' ORDER BY e.id;
)";

std::unique_ptr<Exporter> make_sqlite(const std::string& path, const std::string& name) {
    return std::make_unique<Sqlite>(path, name);
}

} // namespace mmioscope::exporting
