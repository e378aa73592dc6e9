-- Where the ledger contradicts itself, of the chunks stored since a time (0: all of them). kind:
--   gap          offsets [from_offset, to_offset) are in no chunk
--   overlap      offsets [from_offset, to_offset) are in two chunks; the other is
--                [other_start_offset, other_end_offset)
--   conservation the events of a chunk do not add up: amount are too many or too few
--   empty_range  a chunk ends where it starts, or before
-- amount is in offsets, or in events (conservation: due were consumed, had are accounted for). At most {limit} of a kind, the first ones;
-- found and total say how many there are and what they amount to. oldest_ms is from when on chunks
-- must be looked at to find it.
--
-- Ranges tile within a log; only offsets count, not the order of storing, as the server's clock may have been set back.
--
-- Over all time, logs whose summary shows a perfect tiling are passed over (sql/0021_removed_records.sql).
WITH
    suspects AS
    (
        SELECT group_id, topic, partition, log_id
        FROM flushes
        GROUP BY group_id, topic, partition, log_id
        HAVING sum(cityHash64(end_offset)) + cityHash64(min(start_offset))
                != sum(cityHash64(start_offset)) + cityHash64(max(end_offset))
            OR countIf(end_offset <= start_offset) > 0
            OR countIf(consumed != aggregated + rejected + late + overflow + unmapped) > 0
    ),
    chunks AS
    (
        SELECT
            group_id, topic, partition, log_id, start_offset, end_offset, flushed_at,
            consumed, aggregated + rejected + late + overflow + unmapped AS accounted
        FROM flushes
        WHERE flushed_at >= fromUnixTimestamp64Milli({sinceMs:Int64}, 'UTC')
          AND ({groupId:String} = '' OR group_id = {groupId:String})
          AND ({sinceMs:Int64} > 0 OR (group_id, topic, partition, log_id) IN suspects)
    ),
    neighbours AS
    (
        -- The chunk before that reaches furthest, and the offset it reaches.
        SELECT
            *,
            count() OVER before AS before_count,
            max((end_offset, start_offset, flushed_at)) OVER before AS furthest,
            furthest.1 AS reached
        FROM chunks
        WHERE end_offset > start_offset
        WINDOW before AS
        (
            PARTITION BY group_id, topic, partition, log_id ORDER BY start_offset, end_offset, flushed_at
            ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING
        )
    )
SELECT
    kind, group_id, topic, partition, log_id, start_offset, end_offset, from_offset, to_offset,
    other_start_offset, other_end_offset, amount, due, had,
    toUnixTimestamp64Milli(oldest_at) AS oldest_ms,
    count() OVER same_kind AS found,
    sum(amount) OVER same_kind AS total
FROM
(
    SELECT
        if(start_offset > reached, 'gap', 'overlap') AS kind,
        group_id, topic, partition, log_id, start_offset, end_offset,
        least(start_offset, reached) AS from_offset,
        greatest(start_offset, least(end_offset, reached)) AS to_offset,
        furthest.2 AS other_start_offset, reached AS other_end_offset,
        toUInt64(to_offset - from_offset) AS amount, 0 AS due, 0 AS had,
        flushed_at, least(flushed_at, furthest.3) AS oldest_at
    FROM neighbours
    WHERE before_count > 0 AND start_offset != reached
    UNION ALL
    SELECT
        'conservation', group_id, topic, partition, log_id, start_offset, end_offset,
        start_offset, end_offset, 0, 0,
        toUInt64(abs(toInt64(consumed) - toInt64(accounted))), consumed, accounted,
        flushed_at, flushed_at
    FROM chunks
    WHERE consumed != accounted
    UNION ALL
    SELECT
        'empty_range', group_id, topic, partition, log_id, start_offset, end_offset,
        start_offset, end_offset, 0, 0,
        toUInt64(start_offset - end_offset), 0, 0,
        flushed_at, flushed_at
    FROM chunks
    WHERE end_offset <= start_offset
)
WINDOW same_kind AS (PARTITION BY kind)
ORDER BY group_id, topic, partition, log_id, start_offset, kind, flushed_at
LIMIT {limit:UInt32} BY kind
