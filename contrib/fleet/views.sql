-- What the questions ask about, one row for each boot. Both engines read this file, so it is in the SQL that both know.
-- A register is a device and an offset, since not every one has a name. "order" numbers the accesses of a device.

-- The first value that an instruction wrote to a register.
CREATE VIEW IF NOT EXISTS first_writes AS
    SELECT kernel, board, boot, device, "offset", function, max(register) AS name, argMin(value, "order") AS written
    FROM events WHERE type = 'access' AND dir = 'w' AND device <> '' AND value IS NOT NULL
    GROUP BY kernel, board, boot, device, "offset", function;

CREATE VIEW IF NOT EXISTS last_reads AS
    SELECT board, boot, device, "offset", max(register) AS name, argMax(value, "order") AS last_read
    FROM events WHERE type = 'access' AND dir = 'r' AND device <> '' AND value IS NOT NULL
    GROUP BY board, boot, device, "offset";

CREATE VIEW IF NOT EXISTS used_devices AS
    SELECT kernel, board, boot, device, count(*) AS accesses, sum(duration_ns) AS spent
    FROM events WHERE type = 'access' AND device <> ''
    GROUP BY kernel, board, boot, device;

-- What nine of ten boots with a kernel write first: `usual`, NULL if they do not write. What differs more often, as the
-- data for a FIFO or the number of an interrupt, is not here.
CREATE VIEW IF NOT EXISTS usual_writes AS
    SELECT kernel, device, "offset", function, name, CASE WHEN 10 * most >= 9 * boots THEN value END AS usual
    FROM (SELECT kernel, device, "offset", function, max(register) AS name, argMax(written, times) AS value,
                 max(times) AS most, sum(times) AS writing
          FROM (SELECT kernel, device, "offset", function, max(name) AS register, written, count(*) AS times
                FROM first_writes GROUP BY kernel, device, "offset", function, written)
          GROUP BY kernel, device, "offset", function)
    JOIN (SELECT kernel, device, count(*) AS boots FROM used_devices GROUP BY kernel, device) USING (kernel, device)
    WHERE 10 * most >= 9 * boots OR 10 * writing <= boots;

-- How far the last value read from a register is from the median of all boots.
CREATE VIEW IF NOT EXISTS distances AS
    SELECT board, boot, device, "offset", name, last_read, middle, abs(last_read - middle) AS distance
    FROM last_reads
    JOIN (SELECT device, "offset", median(last_read) AS middle FROM last_reads GROUP BY device, "offset") USING (device, "offset");
