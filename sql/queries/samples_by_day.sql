-- Requests counted by each table, and those of them that were given up, day by day, of the days that all four still hold.
SELECT
    day,
    sumIf(n, source = '10s') AS in_10s,
    sumIf(n, source = '1m') AS in_1m,
    sumIf(n, source = '1h') AS in_1h,
    sumIf(n, source = '1d') AS in_1d,
    sumIf(given_up, source = '10s') AS censored_in_10s,
    sumIf(given_up, source = '1m') AS censored_in_1m,
    sumIf(given_up, source = '1h') AS censored_in_1h,
    sumIf(given_up, source = '1d') AS censored_in_1d
FROM
(
    SELECT toDate(window_start) AS day, '10s' AS source, sum(requests) AS n, sum(censored) AS given_up FROM latency_10s GROUP BY day
    UNION ALL
    SELECT toDate(window_start) AS day, '1m' AS source, sum(requests) AS n, sum(censored) AS given_up FROM latency_1m GROUP BY day
    UNION ALL
    SELECT toDate(window_start) AS day, '1h' AS source, sum(requests) AS n, sum(censored) AS given_up FROM latency_1h GROUP BY day
    UNION ALL
    SELECT toDate(window_start) AS day, '1d' AS source, sum(requests) AS n, sum(censored) AS given_up FROM latency_1d GROUP BY day
)
GROUP BY day
ORDER BY day
