import type { Mutant } from './mutant.ts';

const open = 'src/ingest/chunk/open-chunk.ts';
const again = 'src/ingest/made-again.ts';
const partition = 'src/ingest/partition-ingest.ts';
const range = 'src/ingest/open-range.ts';
const place = 'src/ingest/start-position.ts';

/** Losses that nobody is notified of: what Kafka removed before it was stored. */
export const removalMutants: readonly Mutant[] = [
  {
    name: 'promise-dropped',
    bug: 'the ledger does not say what an intent had counted and a successor does not find any more',
    file: again,
    find: 'return { ...chunk, ...identity, ...removedOf(chunk, counts) };',
    replace: 'return { ...chunk, ...identity, removedEvents: 0, removedOffsets: 0 };',
    needs: ['retention'],
  },
  {
    name: 'partly-removed-is-whole',
    bug: 'a chunk that has lost some of its records counts as one that has lost none',
    file: again,
    find: 'if (chunk.records >= records) return',
    replace: 'if (chunk.records >= Math.min(records, 1)) return',
    needs: ['retention'],
  },
  {
    name: 'begins-behind-what-is-removed',
    bug: 'a group that was overtaken by retention goes on where the log begins, and no row says so',
    file: place,
    find: `return startAt('expired', offset, {`,
    replace: `return startAt('expired', intent === undefined ? found.startOffset : offset, {`,
    needs: ['deleted_while_stopped'],
  },
  {
    name: 'removed-waits-for-a-record',
    bug: 'of a log that was emptied the ledger says nothing until its next record, which may never come',
    file: partition,
    find: '    if (this.#range.isRemoved) this.seal();\n',
    replace: '',
    needs: ['log_emptied'],
  },
  {
    name: 'compacted-is-nothing',
    bug: 'offsets that compaction has emptied before they were read are taken for offsets that never had a record',
    file: open,
    find: 'if (removedBefore > 0) this.#countRemoved(removedBefore, record.offset);',
    replace: 'if (removedBefore < 0) this.#countRemoved(removedBefore, record.offset);',
    needs: ['compaction'],
  },
  {
    name: 'aborted-counts-as-removed',
    bug: 'records of aborted transactions and their markers are called removed',
    file: 'src/kafka/protocol/record-batch-reader.ts',
    find: 'if (!isHidden) this.#add(header.baseOffset, header.lastOffset + 1);',
    replace: 'this.#add(header.baseOffset, header.lastOffset + 1);',
    needs: ['aborted_transactions'],
  },
  {
    name: 'removed-up-to-the-chunk',
    bug: 'what was removed behind a chunk that a predecessor began is in no range',
    file: range,
    find: 'if (truncatedAt === undefined) return after(chunk);',
    replace: `const { readOffset } = this.#start;
    const behind = Math.max(chunk.endOffset, readOffset);
    if (truncatedAt === undefined) return { ...after(chunk), startOffset: behind };`,
    needs: ['retention'],
  },
];
