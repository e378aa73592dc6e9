import type { Mutant } from './mutant.ts';

/** Bugs of consumers: ownership of a partition, start position, commits. */
export const sourceMutants: readonly Mutant[] = [
  {
    name: 'seek-ignored',
    bug: 'after a rebalance reading begins where the client thinks, not where it was placed',
    file: 'src/kafka/kafka-source.ts',
    find: `    this.#consumer.seek({ topic: claim.topic, partition: claim.partition, offset: String(offset) });\n`,
    replace: '',
  },
  {
    name: 'partitions-kept-over-rebalance',
    bug: 'a member goes on with partitions that the group has taken from it (kafkajs #1046)',
    file: 'src/kafka/kafka-source.ts',
    find: 'for (const claim of claims) claim.lose();',
    replace: '',
  },
  {
    name: 'refused-commit-passes',
    bug: 'a commit that the broker refuses is taken for done: a zombie writes on',
    file: 'src/kafka/kafka-claim.ts',
    find: '      this.refusal = type === GONE_TYPE',
    replace: `      if (type !== undefined && fencedTypes.has(type)) return;
      this.refusal = type === GONE_TYPE`,
  },
  {
    name: 'refusal-retried',
    bug: 'a commit that the broker refuses for good is sent again and again',
    file: 'src/kafka/kafka-claim.ts',
    find: '(fencedTypes.has(type) || type === GONE_TYPE)',
    replace: '(fencedTypes.has(type.toLowerCase()) || type === GONE_TYPE)',
  },
  {
    name: 'commit-wiped-by-reset',
    bug: 'the offset that a client commits where its own is out of range takes the place of the real one (kafkajs 2.2.4, platformatic/kafka #303)',
    file: 'src/kafka/patches/group/rejoin-on-log-change.ts',
    find: "if (error instanceof Error && error.name === 'KafkaJSOffsetOutOfRange') {",
    replace: "if (error instanceof Error && error.name === 'OffsetOutOfRange') {",
    needs: ['retention'],
  },
  {
    name: 'none-is-zero',
    bug: 'a group that has committed nothing is taken to have committed offset 0',
    file: 'src/kafka/client/kafka-admin.ts',
    find: 'committed.offset < 0 ? none : committed',
    replace: '{ ...committed, offset: Math.max(0, committed.offset) }',
    needs: ['start_from_latest'],
  },
  {
    name: 'commits-by-cached-metadata',
    bug: 'a partition that the client has no metadata of is taken for one without a commit (kafkajs, fetchOffsets)',
    file: 'src/kafka/client/partition-lookup.ts',
    find: 'const commits = await admin.committed(groupId, claims);',
    replace: `const commits: Awaited<ReturnType<typeof admin.committed>> = new Map(
    claims.map((each) => [\`\${each.topic}/\${each.partition}\`, { offset: undefined, metadata: '' }]),
  );
  for (const { topic, partitions } of await admin.client.fetchOffsets({ groupId, topics })) {
    for (const { partition, offset, metadata } of partitions) {
      if (Number(offset) < 0) continue;
      commits.set(\`\${topic}/\${partition}\`, { offset: Number(offset), metadata: metadata ?? '' });
    }
  }`,
  },
  {
    name: 'batch-overwritten',
    bug: 'a batch that was fetched while another was being handled takes the place of the one that waits',
    file: 'src/kafka/kafka-source.ts',
    find: 'while (queue.isFull) {',
    replace: 'while (queue.isFull && claim.isLost) {',
  },
  {
    name: 'commit-of-the-last-offset',
    bug: 'the offset committed is that of the last record, not of the next one (platformatic/kafka #196)',
    file: 'src/kafka/kafka-claim.ts',
    find: 'await this.#owner.send(this, String(offset), metadata);',
    replace: 'await this.#owner.send(this, String(Math.max(0, offset - 1)), metadata);',
  },
  {
    name: 'aborted-records-shown',
    bug: 'records of aborted transactions are handed over where the list of them is out of order (kafkajs 2.2.4)',
    file: 'src/kafka/protocol/record-batch-reader.ts',
    find: 'transactions.toSorted((a, b) => b.firstOffset - a.firstOffset)',
    replace: 'transactions.toReversed()',
    needs: ['aborted_transactions'],
  },
];
