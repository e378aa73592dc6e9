-- Requests of a model by facet, its value, and the band of their total (bands: a quarter octave each, band 0 begins
-- at 1 ms). Facets are stored by model and version only. The values with most requests come first; beyond the limit
-- of a facet, the others are left out.
SELECT facet, value, sum(d.requests) AS requests, sumMap(d.bands) AS amounts
FROM drivers_1m AS d
WHERE model = {model:String}
  AND window_start >= toDateTime({fromSeconds:UInt32}, 'UTC')
  AND window_start < toDateTime({toSeconds:UInt32}, 'UTC')
  AND ({version:String} = '' OR version = {version:String})
  AND facet IN {facets:Array(String)}
GROUP BY facet, value
ORDER BY facet, requests DESC, value
LIMIT {limit:UInt32} BY facet
