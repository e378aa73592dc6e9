-- What the requests of some versions of a model were made of, by the band of their total: a row a version and stage. For
-- the blame of a comparison: see src/sink/read-comparison.ts.
SELECT
    version,
    stage,
    sumMap(l.bands) AS bands,
    sumMap(l.bands_ms) AS bands_ms
FROM latency_1m AS l
WHERE model = {model:String} AND version IN {versions:Array(String)}
  AND window_start >= toDateTime({fromSeconds:UInt32}, 'UTC')
  AND window_start < toDateTime({toSeconds:UInt32}, 'UTC')
  AND ({region:String} = '' OR region = {region:String})
  AND ({requestType:String} = '' OR request_type = {requestType:String})
  AND ({coldStart:String} = '' OR cold_start = ({coldStart:String} = 'true'))
GROUP BY version, stage
ORDER BY version, stage
