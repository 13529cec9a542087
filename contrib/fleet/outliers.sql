-- Registers that held something unusual at the end of a boot: the last value read is more than five times as far from the
-- median of all boots as a boot is on average. So what a fifth of the boots or more do is not unusual.
SELECT device, "offset", name, board, boot, last_read, middle, spread
FROM distances
JOIN (SELECT device, "offset", avg(distance) AS spread FROM distances GROUP BY device, "offset") USING (device, "offset")
WHERE distance > 5 * spread
ORDER BY device, "offset", board, boot
