-- How many requests each model had, by blocks of so many seconds; of events without a total, by the stage with most.
SELECT model, at_seconds, max(stage_requests) AS requests
FROM
(
    SELECT
        model,
        stage,
        intDiv(toUnixTimestamp(window_start), {blockSeconds:UInt32}) * {blockSeconds:UInt32} AS at_seconds,
        sum(requests) AS stage_requests
    FROM latency_1m
    WHERE window_start >= toDateTime({fromSeconds:UInt32}, 'UTC')
      AND window_start < toDateTime({toSeconds:UInt32}, 'UTC')
      AND stage != 'inter_token_latency'
      AND NOT startsWith(stage, 'objective: ')
    GROUP BY model, stage, at_seconds
)
GROUP BY model, at_seconds
ORDER BY at_seconds, model
