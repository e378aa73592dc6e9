-- Requests of all series of a model and version by the band of their total, in a range and in another one to compare it
-- with. Series of the other versions that the baseline is of count as one without its version.
SELECT
    service, request_type, region, host, tenant, cold_start, attributes,
    sumMapIf(bands, is_now) AS now_bands,
    sumMapIf(bands, NOT is_now) AS baseline_bands
FROM
(
    SELECT
        service, request_type, region, host, tenant, cold_start, attributes,
        bands,
        window_start >= toDateTime({fromSeconds:UInt32}, 'UTC') AND window_start < toDateTime({toSeconds:UInt32}, 'UTC') AS is_now
    FROM latency_1m
    WHERE model = {model:String} AND stage = 'total'
      AND window_start >= toDateTime(least({fromSeconds:UInt32}, {baselineFromSeconds:UInt32}), 'UTC')
      AND if(is_now,
          {version:String} = '' OR version = {version:String},
          -- The baseline of a series that is new is of others.
          ({version:String} = '' OR version IN {baselineVersions:Array(String)})
              AND window_start >= toDateTime({baselineFromSeconds:UInt32}, 'UTC')
              AND window_start < toDateTime({baselineToSeconds:UInt32}, 'UTC'))
)
GROUP BY service, request_type, region, host, tenant, cold_start, attributes
