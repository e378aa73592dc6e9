import type { Mutant } from './mutant.ts';

const flush = 'src/ingest/chunk-flush.ts';
const place = 'src/ingest/start-position.ts';
const partition = 'src/ingest/partition-ingest.ts';
const again = 'src/ingest/made-again.ts';
const paused = 'src/ingest/paused-partitions.ts';
const range = 'src/ingest/open-range.ts';
const filling = 'src/ingest/chunk/fill-chunk.ts';

/** Bugs of the protocol: the order of its steps, and a successor's handling of them. */
export const ingestMutants: readonly Mutant[] = [
  {
    name: 'intent-ignored',
    bug: 'a successor cuts chunks of its own through one that had been begun (time-based flush in an exactly-once sink)',
    file: place,
    find: 'return intent !== undefined && intent.endOffset > offset ? intent : undefined;',
    replace: 'return intent !== undefined && intent.endOffset < offset ? intent : undefined;',
  },
  {
    name: 'insert-before-intent',
    bug: 'rows are sent before the range is written down (clickhouse-kafka-connect, BEFORE and NEW)',
    file: flush,
    find: `    await this.#step('commit the intent', () => this.#commitIntent());
    await Promise.all([
      this.#step('insert rows', () => this.#insertRows()),
      this.#step('write dead letters', () => this.#writeLetters()),
    ]);`,
    replace: `    await Promise.all([
      this.#step('insert rows', () => this.#insertRows()),
      this.#step('write dead letters', () => this.#writeLetters()),
    ]);
    await this.#step('commit the intent', () => this.#commitIntent());`,
  },
  {
    name: 'end-before-insert',
    bug: 'the end is committed before the rows are stored: what is lost in between is lost for good',
    file: flush,
    find: `    await this.#step('commit the intent', () => this.#commitIntent());\n`,
    replace: `    await this.#step('commit the intent', () => this.#commitIntent());
    await this.#step('commit the end', () => this.#commitEnd());\n`,
  },
  {
    name: 'end-before-ledger',
    bug: 'the end is committed before the ledger says that all tables have the chunk',
    file: flush,
    find: `    if (this.#ledgerRow !== 'recorded') {
      await this.#step('write the ledger', () => this.#writeLedger());
    }
    await this.#step('commit the end', () => this.#commitEnd());`,
    replace: `    await this.#step('commit the end', () => this.#commitEnd());
    if (this.#ledgerRow !== 'recorded') {
      await this.#step('write the ledger', () => this.#writeLedger());
    }`,
  },
  {
    name: 'no-ledger-lookup',
    bug: 'only the commits of the group say where to go on; they expire (Kafka table engine #10573)',
    file: place,
    find: 'const ends = await options.store.ledgerEnds(options.groupId, topic, partition);',
    replace: `const looked = await options.store.ledgerEnds(options.groupId, topic, partition);
  const ends = looked.slice(0, 0);`,
    needs: ['commits_expired'],
  },
  {
    name: 'no-look-before-insert',
    bug: 'a chunk in doubt is sent again without a look, and its token is forgotten (clickhouse-kafka-connect #24)',
    file: flush,
    find: 'const state = await this.#inspect();',
    replace: `await this.#inspect();
      const state = { isRecorded: false, isLanded: false, landedSamples: 0, isRemembered: true };`,
  },
  {
    name: 'no-look-before-ledger',
    bug: 'a ledger row in doubt is written again without a look',
    file: flush,
    find: 'if (isRecorded) return;',
    replace: '',
    needs: ['tokens_off'],
  },
  {
    name: 'landed-is-stored',
    bug: 'a block that has landed is taken to be in all tables (ClickHouse: retry after a view failed)',
    file: flush,
    find: '    if (state.isRemembered || ',
    replace: `    if (state.isLanded) return;
    if (state.isRemembered || `,
  },
  {
    name: 'not-landed-is-nowhere',
    bug: 'a block without a landing whose token is forgotten is taken to be in no table, and goes to all of them',
    file: flush,
    find: 'if (state.isRemembered || isNowhere) ',
    replace: 'if (state.isRemembered || !state.isLanded) ',
  },
  {
    name: 'sends-what-is-there',
    bug: 'a block that no table lacks is sent again, and its token is forgotten before it arrives',
    file: flush,
    find: `if (parts.length === 0) return;
    if (!state.isLanded`,
    replace: 'if (!state.isLanded',
    needs: ['tokens_evicted'],
  },
  {
    name: 'token-taken-for-remembered',
    bug: 'a block is sent again although its token may be forgotten (ClickHouse: deduplication window of an hour)',
    file: flush,
    find: 'const state = await this.#inspect();',
    replace: 'const state = { ...(await this.#inspect()), isRemembered: true };',
  },
  {
    name: 'answered-is-stored',
    bug: 'an insert that was answered is taken to be in all tables, and its server had been killed with the token noted and no rows',
    file: flush,
    find: 'await this.#fillGaps();',
    replace: 'if (intent.endOffset < 0) await this.#fillGaps();',
    needs: ['token_without_rows'],
  },
  {
    name: 'ledger-answer-is-enough',
    bug: 'a ledger row that was answered is taken to be there, and its server had been killed with the token noted and no row',
    file: flush,
    find: `const isRepeated = this.#ledgerRow === 'in_doubt' || this.#start.isFirst;`,
    replace: 'const isRepeated = false;',
    needs: ['token_without_rows'],
  },
  {
    name: 'no-guard',
    bug: 'a process that was stopped for minutes sends what it was about to send (clickhouse-kafka-connect #24)',
    file: flush,
    find: 'while (clock.elapsedMs() - this.#confirmedMs > guardMs) {',
    replace: 'while (clock.elapsedMs() + guardMs < this.#confirmedMs) {',
    needs: ['tokens_off', 'stop_at_call'],
  },
  {
    name: 'letters-after-commit',
    bug: 'dead letters are written after the offset has moved on: a crash in between loses them',
    file: flush,
    find: `      this.#step('write dead letters', () => this.#writeLetters()),
    ]);
    if (this.#ledgerRow !== 'recorded') {
      await this.#step('write the ledger', () => this.#writeLedger());
    }
    await this.#step('commit the end', () => this.#commitEnd());`,
    replace: `    ]);
    if (this.#ledgerRow !== 'recorded') {
      await this.#step('write the ledger', () => this.#writeLedger());
    }
    await this.#step('commit the end', () => this.#commitEnd());
    await this.#step('write dead letters', () => this.#writeLetters());`,
  },
  {
    name: 'gives-up',
    bug: 'after some attempts a batch is dropped and the next one taken (clickhouse-kafka-connect #458)',
    file: 'src/ingest/persist.ts',
    find: `  const done = async () => {
    await action();`,
    replace: `  let left = 4;
  const done = async () => {
    if (left-- > 0) await action();`,
  },
  {
    name: 'settings-of-the-successor',
    bug: 'a chunk that a predecessor began is made again as the successor is configured',
    file: partition,
    find: 'const settings = intent?.settings ?? this.#ownSettings();',
    replace: 'const settings = this.#ownSettings();',
    needs: ['config_changed'],
  },
  {
    name: 'clock-of-the-successor',
    bug: 'a chunk that is made again judges its events by another clock',
    file: partition,
    find: 'intent?.nowMs ?? context.clock.nowMs()',
    replace: 'context.clock.nowMs()',
    needs: ['clock_edge'],
  },
  {
    name: 'time-cuts-inherited',
    bug: 'chunk boundaries by time: an inherited chunk is sealed when the interval is over',
    file: partition,
    find: 'if (this.#range.inherited !== undefined || this.#isStoring) return;',
    replace: 'if (this.#isStoring) return;',
  },
  {
    name: 'drain-cuts-inherited',
    bug: 'a process that ends stores the part of an inherited chunk that it has read',
    file: partition,
    find: '    if (this.#range.inherited === undefined || this.#range.isRemoved) this.seal();',
    replace: '    this.seal();',
    needs: ['sigterm_at_call'],
  },
  {
    name: 'row-beyond-the-range',
    bug: 'a chunk holds a record beyond the range that its ledger row names',
    file: filling,
    find: 'record.offset >= boundary',
    replace: 'record.offset > boundary',
  },
  {
    name: 'buffer-cleared-after-flush',
    bug: 'the buffer is emptied when its flush is done, with what came meanwhile',
    file: partition,
    find: '    countStored(sealed, ',
    replace: `    const { nextOffset: startOffset, watermarkMs } = this.#open;
    this.#open.begin({ ...this.#range.begin, startOffset, watermarkMs }, clock.nowMs());
    countStored(sealed, `,
  },
  {
    name: 'rest-of-batch-dropped',
    bug: 'what is left of a batch when a chunk is full is dropped',
    file: filling,
    find: 'if (boundary === undefined && open.isFull) break;',
    replace: `if (boundary === undefined && open.isFull) {
        while (records.current !== undefined) records.advance();
      }`,
  },
  {
    name: 'records-before-the-offset',
    bug: 'records that a broker hands over from before the offset asked for are taken again',
    file: filling,
    find: 'if (record.offset >= open.nextOffset) open.add(record);',
    replace: 'open.add(record);',
  },
  {
    name: 'token-of-what-is-left',
    bug: 'the token of a retry is made of a range that was trimmed meanwhile (clickhouse-kafka-connect, BEFORE and SAME)',
    file: again,
    find: 'const identity = { endOffset, ',
    replace: `const trimmed = chunk.records < counts.records ? chunk.endOffset - 1 : endOffset;
  const identity = { endOffset: trimmed, `,
    needs: ['compaction'],
  },
  {
    name: 'range-begins-where-reading-does',
    bug: 'the range is that of what was fetched, not of what was left of it',
    file: range,
    find: 'this.#begin = { logId, startOffset, watermarkMs, leaderEpoch };',
    replace: `this.#begin = {
      ...{ logId, watermarkMs, leaderEpoch },
      startOffset: Math.min(startOffset, start.readOffset),
    };`,
  },
  {
    name: 'recreated-not-seen',
    bug: 'a recreated topic is read from where the old one was left',
    file: 'src/kafka/client/kafka-admin.ts',
    find: "{ logId: logIdOf(clusterId ?? '', topicId), partitions },",
    replace: "{ logId: logIdOf(clusterId ?? '', topicId.slice(0, 1)), partitions },",
    needs: ['topic_recreated'],
  },
  {
    name: 'cluster-not-in-the-log-id',
    bug: 'a topic of the same name in another cluster passes for the same log',
    file: 'src/kafka/client/kafka-admin.ts',
    find: "logIdOf(clusterId ?? '', topicId)",
    replace: "logIdOf((clusterId ?? '').replace('other', 'sim'), topicId)",
    needs: ['two_clusters'],
  },
  {
    name: 'truncated-not-seen',
    bug: 'records that replaced others after an unclean leader election are passed over (Apache Kafka, KIP-101)',
    file: place,
    find: 'if (remains.endOffset < readTo) return truncated(offset, remains, reached, found);',
    replace: '',
    needs: ['unclean_election'],
  },
  {
    name: 'other-leader-trusted',
    bug: 'what another leader wrote is read on, although it lacks some of the records before (Apache Kafka, KIP-320)',
    file: 'src/kafka/kafka-source.ts',
    find: 'if (isOfOtherLeader(records, claim)) claim.isUnverified = true;',
    replace: '',
    needs: ['unclean_election'],
  },
  {
    name: 'last-record-trusted',
    bug: 'where reading goes one record back, that record passes for the one that was stored',
    file: 'src/kafka/log-of-claim.ts',
    find: 'return endOffset >= claim.knownTo;',
    replace: 'return endOffset >= (claim.position ?? 0);',
    needs: ['unclean_election'],
  },
  {
    name: 'pending-chunk-forgotten',
    bug: 'a log that is truncated before a pending chunk is read once more is not noticed: other records are in it',
    file: place,
    find: 'return { leaderEpoch: intent.counts.leaderEpoch, endOffset: intent.endOffset };',
    replace: 'return { leaderEpoch, endOffset: startOffset };',
    needs: ['unclean_election'],
  },
  {
    name: 'epoch-of-truncation-unknown',
    bug: 'after a truncation the epoch of the record before is not known: a second one before the next read is not noticed',
    file: place,
    find: 'const { leaderEpoch, endOffset } = remains;',
    replace: 'const { leaderEpoch, endOffset } = { ...remains, leaderEpoch: -1 };',
    needs: ['unclean_election'],
  },
  {
    name: 'epoch-of-visible-records',
    bug: 'a chunk that ends with markers of a later leader has the epoch of its last visible record: its log looks truncated',
    file: filling,
    find: 'open.endBatch(nextOffset, leaderEpoch, ',
    replace: 'open.endBatch(nextOffset, undefined, ',
    needs: ['broker_restart', 'aborted_transactions'],
  },
  {
    name: 'truncated-in-its-generation',
    bug: 'a truncated log goes on under its name: its offsets are in the ledger twice',
    file: place,
    find: 'const logId = truncatedId(reached.logId);',
    replace: 'const { logId } = reached;',
    needs: ['unclean_election'],
  },
  {
    name: 'pending-chunk-of-a-truncated-log',
    bug: 'a chunk that was begun is made again from records that replaced its own',
    file: range,
    find: 'endOffset: Math.min(endOffset, truncatedAt?.endOffset ?? endOffset),',
    replace: 'endOffset,',
    needs: ['unclean_election'],
  },
  {
    name: 'clock-of-the-chunk-before',
    bug: 'a chunk is judged by the clock of when the one before was sealed: after a silent hour events of now are of the future',
    file: partition,
    find: 'if (boundary === undefined && this.#open.records === 0) this.#setClock();',
    replace: '',
  },
  {
    name: 'truncated-below-retention',
    bug: 'a truncated log is read from where retention has removed it, again and again',
    file: place,
    find: 'const readOffset = Math.max(found.startOffset, endOffset);',
    replace: 'const readOffset = endOffset;',
    needs: ['unclean_election', 'retention'],
  },
  {
    name: 'clock-unchecked',
    bug: 'events of now are rejected by a wrong clock, and nobody compares it',
    file: paused,
    find: 'if (behindMs < config.windows.max_future / 2) return undefined;',
    replace: 'if (behindMs < Number.MAX_VALUE) return undefined;',
    needs: ['clock_wrong'],
  },
  {
    name: 'clock-compared-too-late',
    bug: 'a clock that was set while a chunk was open is compared as it is afterwards',
    file: paused,
    find: 'const setByMs = () => clock.nowMs() - clock.elapsedMs() - clockMs;',
    replace: 'const setByMs = () => 0 * clockMs;',
    needs: ['clock_wrong'],
  },
  {
    name: 'clock-of-long-ago',
    bug: 'a chunk that stayed open while ClickHouse was away judges by the clock of its beginning what comes after it',
    file: partition,
    find: 'return ageMs > this.#open.settings.maxFutureMs / 2;',
    replace: 'return ageMs < 0;',
    needs: ['clickhouse_down'],
  },
  {
    name: 'intent-of-overtaken-commit',
    bug: 'a commit that was put back brings back its chunk, though others have stored further',
    file: place,
    find: 'const intent = isCommit ? pending(offset, metadata) : undefined;',
    replace: 'const intent = pending(offset, metadata);',
    needs: ['commits_restored'],
  },
  {
    name: 'overtaking-ledger-ignored',
    bug: 'a commit that was put back sends the group back, although the ledger is further',
    file: place,
    find: 'const isCommit = committed >= (end?.endOffset ?? -1);',
    replace: 'const isCommit = committed >= 0;',
    needs: ['commits_restored'],
  },
  {
    name: 'expired-intent-dropped',
    bug: 'a chunk that was begun is forgotten where retention has removed its first records',
    file: place,
    find: 'if (offset < found.startOffset) return expired(offset, reached, found);',
    replace:
      'if (offset < found.startOffset) return expired(offset, { ...reached, intent: undefined }, found);',
    needs: ['retention'],
  },
  {
    name: 'ledger-of-what-is-left',
    bug: 'the ledger says what a successor could still read, the tables hold what had landed',
    file: flush,
    find: 'entry = this.#entryOfSender(landedSamples);',
    replace: '',
    needs: ['compaction'],
  },
  {
    name: 'landed-is-the-first-senders',
    bug: 'what has landed is taken to be of whoever began the chunk, and a successor with fewer records had sent it',
    file: flush,
    find: 'if (senders.some(({ rows }) => rows.samples !== chunk.rows.samples)) {',
    replace: 'if (senders.length === 0) {',
    needs: ['compaction', 'token_without_rows'],
  },
  {
    name: 'added-partition-from-its-end',
    bug: 'a partition that came later is begun at its end: records are passed over in silence (platformatic/kafka #267)',
    file: place,
    find: `return startAt('added', await found.firstOffsetAt(beganMs), rest);`,
    replace: `return startAt('added', found.endOffset, rest);`,
    needs: ['start_from_latest', 'partitions_added'],
  },
  {
    name: 'added-partition-from-now',
    bug: 'a partition that came later is begun at the time at which it is seen',
    file: place,
    find: 'const beganMs = await options.store.groupBeginMs(options.groupId, topic, clusterId);',
    replace: 'const beganMs = undefined as number | undefined;',
    needs: ['start_from_latest', 'partitions_added'],
  },
];
