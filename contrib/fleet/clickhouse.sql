-- The events of each server, and the table of all of them. A board's events are on one server.

CREATE TABLE IF NOT EXISTS events_here (
    board String, boot String, kernel String,
    ns UInt64, ticks UInt64, cpu UInt8, type String, dir String, size UInt8, device String, "offset" UInt64, address UInt64,
    register String, value Nullable(UInt64), fields String, duration_ns UInt64, pc UInt64, function String, source String,
    lr UInt64, caller String, sp UInt64, va UInt64, mode String, task UInt64, pid Int64, comm String, interrupt String,
    text String, lost UInt64, sequence UInt64, "order" UInt64, flags String, payload String, note String
) ENGINE = MergeTree PARTITION BY tuple() ORDER BY (device, "offset", board, boot, "order");

CREATE TABLE IF NOT EXISTS events AS events_here
    ENGINE = Distributed(fleet, default, events_here, sipHash64(board));
