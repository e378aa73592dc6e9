-- Minutes of some versions of a model, to compare them: requests, failures and a mergeable t-digest, a row a minute,
-- version and stage. Only from whole minutes; the caller leaves out those that are not complete, and bounds the range.
-- In RowBinary: see src/sink/read-comparison.ts.
SELECT
    window_start,
    version,
    stage,
    sum(l.requests),
    sum(l.errors) + sum(l.timeouts),
    quantilesTDigestMergeState(0.5, 0.9, 0.95, 0.99, 0.999)(l.latency)
FROM latency_1m AS l
WHERE model = {model:String} AND version IN {versions:Array(String)}
  AND window_start >= toDateTime({fromSeconds:UInt32}, 'UTC')
  AND window_start < toDateTime({toSeconds:UInt32}, 'UTC')
  AND ({region:String} = '' OR region = {region:String})
  AND ({requestType:String} = '' OR request_type = {requestType:String})
  AND ({coldStart:String} = '' OR cold_start = ({coldStart:String} = 'true'))
GROUP BY window_start, version, stage
ORDER BY window_start, version, stage
FORMAT RowBinary
