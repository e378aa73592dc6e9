-- Requests of the series of an anomaly by the band of their total (a quarter octave each, band 0 begins at 1 ms), in its
-- baseline and since its start; a row a band. A series is its values with '\x1f' between: see
-- src/views/anomalies/anomaly.ts. Of an anomaly of a whole model ({whole}) they are all series of the models.
SELECT
    band,
    exp2(floor(band / 4)) * (1 + positiveModulo(band, 4) / 4) AS from_ms,
    toUInt64(before_bands[band]) AS before,
    toUInt64(during_bands[band]) AS during
FROM
(
    SELECT
        sumMapIf(bands, is_baseline AND ({whole:Bool} OR series IN {baselineSeries:Array(String)})) AS before_bands,
        sumMapIf(bands, is_now AND ({whole:Bool} OR series IN {series:Array(String)})) AS during_bands
    FROM
    (
        SELECT
            bands,
            arrayStringConcat([
                toString(service), toString(model), if({anyVersion:Bool}, '', toString(version)), toString(request_type),
                toString(region), toString(host), toString(tenant), toString(cold_start), toString(attributes)], '\x1f') AS series,
            window_start >= toDateTime({baselineFromSeconds:UInt32}, 'UTC')
                AND window_start < toDateTime({baselineToSeconds:UInt32}, 'UTC') AS is_baseline,
            window_start >= toDateTime({fromSeconds:UInt32}, 'UTC')
                AND window_start < toDateTime({toSeconds:UInt32}, 'UTC') AS is_now
        FROM {table:Identifier}
        WHERE stage = 'total'
          AND (empty({models:Array(String)}) OR model IN {models:Array(String)})
          AND ({requestType:String} = '' OR request_type = {requestType:String})
          AND (is_baseline OR is_now)
    )
)
ARRAY JOIN arraySort(arrayDistinct(arrayConcat(mapKeys(before_bands), mapKeys(during_bands)))) AS band
ORDER BY band
