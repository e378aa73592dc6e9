-- Requests of one series by the band of their total, in a range and in another one to compare it with.
SELECT
    sumMapIf(bands, is_now) AS now_bands,
    sumMapIf(bands, NOT is_now) AS baseline_bands
FROM
(
    SELECT
        bands,
        window_start >= toDateTime({fromSeconds:UInt32}, 'UTC') AND window_start < toDateTime({toSeconds:UInt32}, 'UTC') AS is_now
    FROM latency_1m
    WHERE service = {service:String} AND model = {model:String} AND request_type = {requestType:String}
      AND tenant = {tenant:String} AND cold_start = {coldStart:Bool}
      AND stage = 'total'
      AND if(is_now,
          version = {version:String} AND region = {region:String} AND host = {host:String},
          -- The baseline of a series that is new is of others.
          version IN {baselineVersions:Array(String)} AND region IN {baselineRegions:Array(String)}
              AND host IN {baselineHosts:Array(String)}
              AND window_start >= toDateTime({baselineFromSeconds:UInt32}, 'UTC')
              AND window_start < toDateTime({baselineToSeconds:UInt32}, 'UTC'))
)
