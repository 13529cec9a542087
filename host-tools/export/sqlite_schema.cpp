#include "export/sqlite_schema.hpp"

namespace mmioscope::exporting {

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
CREATE TABLE events (id INTEGER PRIMARY KEY, ns INTEGER, ticks INTEGER, cpu INTEGER, type TEXT, dir TEXT,
    size INTEGER, device INTEGER REFERENCES devices, offset INTEGER, address INTEGER,
    register INTEGER REFERENCES registers, value INTEGER, fields TEXT, duration_ns INTEGER, pc INTEGER, lr INTEGER, sp INTEGER,
    va INTEGER, mode TEXT, task INTEGER, task_id INTEGER REFERENCES tasks, sequence INTEGER, "order" INTEGER,
    flags TEXT, code INTEGER REFERENCES symbols, caller INTEGER REFERENCES symbols,
    interrupt INTEGER REFERENCES interrupts);
CREATE TABLE texts (event INTEGER PRIMARY KEY REFERENCES events, text TEXT);
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
        c.function AS caller, t.pid, t.comm, i.name AS interrupt, x.text, e.flags
    FROM events e LEFT JOIN devices d ON d.id = e.device LEFT JOIN registers r ON r.id = e.register
        LEFT JOIN symbols s ON s.id = e.code LEFT JOIN symbols c ON c.id = e.caller
        LEFT JOIN tasks t ON t.id = e.task_id LEFT JOIN texts x ON x.event = e.id
        LEFT JOIN interrupts i ON i.id = e.interrupt;
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

} // namespace mmioscope::exporting
