-- Digests are sorted pairs of Float32: differences of eight bytes compress to an eighth less. Extremes and sums had
-- the default codec, LZ4. Parts that exist keep theirs until they merge.
ALTER TABLE latency_10s
    MODIFY COLUMN latency CODEC(Delta(8), ZSTD(1)),
    MODIFY COLUMN sum_ms CODEC(ZSTD(1)),
    MODIFY COLUMN min_ms CODEC(ZSTD(1)),
    MODIFY COLUMN max_ms CODEC(ZSTD(1));

ALTER TABLE latency_1m
    MODIFY COLUMN latency CODEC(Delta(8), ZSTD(1)),
    MODIFY COLUMN sum_ms CODEC(ZSTD(1)),
    MODIFY COLUMN min_ms CODEC(ZSTD(1)),
    MODIFY COLUMN max_ms CODEC(ZSTD(1));

ALTER TABLE latency_1h
    MODIFY COLUMN latency CODEC(Delta(8), ZSTD(1)),
    MODIFY COLUMN sum_ms CODEC(ZSTD(1)),
    MODIFY COLUMN min_ms CODEC(ZSTD(1)),
    MODIFY COLUMN max_ms CODEC(ZSTD(1));

ALTER TABLE latency_1d
    MODIFY COLUMN latency CODEC(Delta(8), ZSTD(1)),
    MODIFY COLUMN sum_ms CODEC(ZSTD(1)),
    MODIFY COLUMN min_ms CODEC(ZSTD(1)),
    MODIFY COLUMN max_ms CODEC(ZSTD(1));
