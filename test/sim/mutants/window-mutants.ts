import type { Mutant } from './mutant.ts';

const accumulator = 'src/window/chunk-accumulator.ts';
const open = 'src/ingest/chunk/open-chunk.ts';

/** Bugs of event time and of counting. */
export const windowMutants: readonly Mutant[] = [
  {
    name: 'late-counted-twice',
    bug: 'a late event counts twice in the ledger',
    file: accumulator,
    find: 'this.counts.late++;',
    replace: 'this.counts.late += 2;',
  },
  {
    name: 'overflow-counted-twice',
    bug: 'an event beyond the limit counts as overflow and as aggregated',
    file: accumulator,
    find: `      this.counts.overflow++;
      return outcomes.overflow;`,
    replace: `      this.counts.overflow++;
      this.counts.aggregated++;
      return outcomes.overflow;`,
    needs: ['few_series'],
  },
  {
    name: 'watermark-from-the-clock',
    bug: 'the watermark follows the wall clock: after an outage all that was waiting is late',
    file: accumulator,
    find: 'const reachedMs = Math.min(this.#watermarkMs, this.#nowMs);',
    replace: 'const reachedMs = this.#nowMs;',
  },
  {
    name: 'watermark-goes-back',
    bug: 'the watermark is the time of the last event, not of the latest (Flink: an idle input drags it back)',
    file: accumulator,
    find: 'if (endMs > this.#watermarkMs) {',
    replace: 'if (endMs !== this.#watermarkMs) {',
  },
  {
    name: 'watermark-not-inherited',
    bug: 'a successor begins without a watermark: what was late is counted',
    file: 'src/ingest/open-range.ts',
    find: 'const { lost, leaderEpoch, watermarkMs = Number.NEGATIVE_INFINITY } = start;',
    replace: `const { lost, leaderEpoch } = start;
    const watermarkMs = Number.NEGATIVE_INFINITY;`,
  },
  {
    name: 'watermark-not-committed',
    bug: 'the end is committed without the watermark',
    file: 'src/ingest/chunk-flush.ts',
    find: 'return this.#claim.commit(endOffset, encodeMetadata(reached));',
    replace:
      'return this.#claim.commit(endOffset, encodeMetadata({ ...reached, watermarkMs: undefined }));',
  },
  {
    name: 'watermark-of-the-ledger-ignored',
    bug: 'a group whose commits are gone begins without a watermark',
    file: 'src/ingest/start-position.ts',
    find: 'watermarkMs: isCommit ? metadata?.watermarkMs : end?.watermarkMs,',
    replace: 'watermarkMs: metadata?.watermarkMs,',
    needs: ['commits_expired'],
  },
  {
    name: 'max-instead-of-sum',
    bug: 'durations of a window are not added up: the largest stays (max where sum was meant)',
    file: 'src/sketch/sketch-pool.ts',
    find: 'sum += wholeUs(this.#value(address, i));',
    replace: 'sum = Math.max(sum, wholeUs(this.#value(address, i)));',
  },
  {
    name: 'gaps-counted-as-lost',
    bug: 'a range begins at its first record: what compaction or a transaction left empty looks lost (Druid #5404)',
    file: open,
    find: 'if (this.#records === 0) this.#firstTimestampMs = timestampMs;',
    replace: `if (this.#records === 0) {
      this.#firstTimestampMs = timestampMs;
      this.#startOffset = record.offset;
    }`,
  },
  {
    name: 'state-of-chunk-before',
    bug: 'what a chunk held is not forgotten when the next one begins',
    file: accumulator,
    find: `    this.sketches.reset();\n`,
    replace: '',
  },
  {
    name: 'window-of-arrival',
    bug: 'events are put into the window in which they were read',
    file: accumulator,
    find: 'const window = Math.floor(endMs / baseWindowMs);',
    replace: 'const window = Math.floor((this.#nowMs - 10_800_000) / baseWindowMs);',
  },
  {
    name: 'window-of-start',
    bug: 'a request counts in the window in which it began: a slow one in a window that was judged before',
    file: accumulator,
    find: 'const window = Math.floor(endMs / baseWindowMs);',
    replace: 'const window = Math.floor(event.tsMs / baseWindowMs);',
  },
  {
    name: 'watermark-of-start',
    bug: 'the watermark is the latest start of a request, not the latest end',
    file: accumulator,
    find: 'const endMs = completionMs(event);',
    replace: 'const endMs = Math.min(completionMs(event), event.tsMs);',
  },
];
