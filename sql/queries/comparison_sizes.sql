-- The requests of one side of a comparison by a facet that is a size, its value, and the band of their total.
SELECT facet, value, sum(d.requests) AS requests, sumMap(d.bands) AS amounts
FROM drivers_1m AS d
WHERE model = {model:String}
  AND window_start >= toDateTime({fromSeconds:UInt32}, 'UTC')
  AND window_start < toDateTime({toSeconds:UInt32}, 'UTC')
  AND ({version:String} = '' OR version = {version:String})
  AND facet IN ('batch_size', 'request_bytes', 'input_tokens')
GROUP BY facet, value
ORDER BY facet, value
