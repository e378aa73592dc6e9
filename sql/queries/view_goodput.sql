-- Requests of a model over a range for which a joint objective was counted, and those that missed it: exact, as ingest counts
-- them one by one in a row of their own beside those of the stages, {row:String}. Its milliseconds are the requests that
-- missed. {row:String} names thresholds; the objective has patterns of dimensions as LIKE takes them ('%' for any).
--
-- Counting may have begun within the range: `counted_seconds` is the first minute that was counted, `first_seconds` the first
-- with a whole request. NULL for none. The part of the range that whole windows of a coarser table fill is read from there.
WITH
    (of_service, of_version, of_type, of_region, of_host, of_tenant, of_attributes, of_attribute, is_cold) ->
        ({version:String} = '' OR of_version = {version:String})
        AND ({region:String} = '' OR of_region = {region:String})
        AND ({requestType:String} = '' OR of_type = {requestType:String})
        AND (empty({attributePairs:Array(String)}) OR arrayAll(pair -> if(position(pair, '=') < length(pair),
            has(splitByChar(',', of_attributes), pair),
            of_attributes != '__other__' AND position(concat(',', of_attributes), concat(',', pair)) = 0), {attributePairs:Array(String)}))
        AND ({coldStart:String} = '' OR is_cold = ({coldStart:String} = 'true'))
        AND of_service LIKE {servicePattern:String} AND of_version LIKE {versionPattern:String}
        AND of_type LIKE {requestTypePattern:String} AND of_region LIKE {regionPattern:String}
        AND arrayAll((name, like) -> of_attribute[name] LIKE like, {attributeNames:Array(String)}, {attributePatterns:Array(String)})
        AND of_host LIKE {hostPattern:String} AND of_tenant LIKE {tenantPattern:String}
        AND toString(is_cold) LIKE {coldStartPattern:String} AS is_asked
SELECT
    toUInt64(sum(c.requests)) AS requests,
    toUInt64(sum(c.sum_ms)) AS missed,
    (
        SELECT toUnixTimestamp(window_start)
        FROM latency_1m
        WHERE model = {model:String} AND stage = {row:String}
          AND window_start >= toDateTime({fromSeconds:UInt32}, 'UTC')
          AND window_start < toDateTime({toSeconds:UInt32}, 'UTC')
          AND is_asked(service, version, request_type, region, host, tenant, attributes, attribute, cold_start)
        ORDER BY latency_1m.window_start
        LIMIT 1
    ) AS counted_seconds,
    (
        SELECT toUnixTimestamp(window_start)
        FROM latency_1m
        WHERE model = {model:String} AND stage = 'total'
          AND window_start >= toDateTime({fromSeconds:UInt32}, 'UTC')
          AND window_start < toDateTime({toSeconds:UInt32}, 'UTC')
          AND is_asked(service, version, request_type, region, host, tenant, attributes, attribute, cold_start)
        ORDER BY latency_1m.window_start
        LIMIT 1
    ) AS first_seconds
FROM
(
    SELECT requests, sum_ms
    FROM {coarseTable:Identifier}
    WHERE model = {model:String} AND stage = {row:String}
      AND window_start >= toDateTime({coarseFromSeconds:UInt32}, 'UTC')
      AND window_start < toDateTime({coarseToSeconds:UInt32}, 'UTC')
      AND is_asked(service, version, request_type, region, host, tenant, attributes, attribute, cold_start)
    UNION ALL
    SELECT requests, sum_ms
    FROM {table:Identifier}
    WHERE model = {model:String} AND stage = {row:String}
      AND window_start >= toDateTime({fromSeconds:UInt32}, 'UTC')
      AND window_start < toDateTime({toSeconds:UInt32}, 'UTC')
      AND NOT (window_start >= toDateTime({coarseFromSeconds:UInt32}, 'UTC')
          AND window_start < toDateTime({coarseToSeconds:UInt32}, 'UTC'))
      AND is_asked(service, version, request_type, region, host, tenant, attributes, attribute, cold_start)
) AS c
