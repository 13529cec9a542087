-- How long the accesses of a device took with each kernel: in all, and in one boot.
SELECT device, kernel, count(*) AS boots, sum(accesses) AS all_accesses, sum(spent) AS ns, round(sum(spent) / count(*)) AS ns_per_boot
FROM used_devices GROUP BY device, kernel ORDER BY device, kernel
