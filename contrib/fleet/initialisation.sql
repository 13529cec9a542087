-- Which boards initialise a device in another way than nine of ten boots with the same kernel: the first value that an
-- instruction wrote to a register, NULL if it did not write.
SELECT device, "offset", name, function, kernel, usual, board, written, count(*) AS boots
FROM (SELECT kernel, board, boot, device, "offset", function, name, usual
      FROM used_devices JOIN usual_writes USING (kernel, device))
LEFT JOIN (SELECT board, boot, device, "offset", function, written FROM first_writes) USING (board, boot, device, "offset", function)
WHERE written <> usual OR written IS NULL AND usual IS NOT NULL OR written IS NOT NULL AND usual IS NULL
GROUP BY device, "offset", name, function, kernel, usual, board, written
ORDER BY device, "offset", function, kernel, board, written
