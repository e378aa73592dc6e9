-- Baseline of a quantile by part of the day: the least, the median and the largest over the days of a range.
SELECT
    slot_seconds,
    min(ms) AS low_ms,
    quantileExact(0.5)(ms) AS median_ms,
    max(ms) AS high_ms
FROM
(
    SELECT
        intDiv(toUnixTimestamp(window_start) % 86400, {slotSeconds:UInt32}) * {slotSeconds:UInt32} AS slot_seconds,
        intDiv(toUnixTimestamp(window_start), 86400) AS day,
        quantilesTDigestMerge({quantiles:Float64})(l.latency)[1] AS ms
    FROM {table:Identifier} AS l
    WHERE model = {model:String}
      AND stage = {stage:String}
      AND window_start >= toDateTime({fromSeconds:UInt32}, 'UTC')
      AND window_start < toDateTime({toSeconds:UInt32}, 'UTC')
      AND (toUnixTimestamp(window_start) + 86400 - {firstSlot:UInt32}) % 86400 < {slots:UInt32} * {slotSeconds:UInt32}
      AND ({version:String} = '' OR version = {version:String})
      AND ({region:String} = '' OR region = {region:String})
      AND ({requestType:String} = '' OR request_type = {requestType:String})
      AND (empty({attributePairs:Array(String)}) OR hasAll(splitByChar(',', attributes), {attributePairs:Array(String)}))
      AND ({coldStart:String} = '' OR cold_start = ({coldStart:String} = 'true'))
    GROUP BY day, slot_seconds
)
GROUP BY slot_seconds
ORDER BY slot_seconds
