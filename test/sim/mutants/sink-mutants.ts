import type { Mutant } from './mutant.ts';

/** Bugs of the data sent to ClickHouse, and of its tokens. */
export const sinkMutants: readonly Mutant[] = [
  {
    name: 'new-token-on-retry',
    bug: 'an insert whose answer was lost is sent again under another token',
    file: 'src/sink/chunks/chunk-store.ts',
    find: 'await this.#send(insertRows, {}, chunk, chunkToken(chunk));',
    replace:
      "await this.#send(insertRows, {}, chunk, [this.#instance, chunkToken(chunk)].join('/'));",
  },
  {
    name: 'token-without-log',
    bug: 'the token of a recreated topic is that of the one before (same token, other rows: dropped)',
    file: 'src/sink/chunks/chunk.ts',
    find: 'const { groupId, topic, partition, logId, startOffset, endOffset, leaderEpoch } = chunk;',
    replace: `const { groupId, topic, partition, startOffset, endOffset, leaderEpoch } = chunk;
  const logId = 'sim/id0';`,
    needs: ['topic_recreated'],
  },
  {
    name: 'token-without-partition',
    bug: 'chunks of two partitions have one token',
    file: 'src/sink/chunks/chunk.ts',
    find: 'const { groupId, topic, partition, logId, startOffset, endOffset, leaderEpoch } = chunk;',
    replace: `const { groupId, topic, logId, startOffset, endOffset, leaderEpoch } = chunk;
  const partition = 0;`,
  },
  {
    name: 'token-without-end',
    bug: 'the token names where a chunk begins, not where it ends',
    file: 'src/sink/chunks/chunk.ts',
    find: 'const { groupId, topic, partition, logId, startOffset, endOffset, leaderEpoch } = chunk;',
    replace: `const { groupId, topic, partition, logId, startOffset, leaderEpoch } = chunk;
  const endOffset = 0;`,
  },
  {
    name: 'token-without-epoch',
    bug: 'records that an unclean election put in the place of others have the token of a chunk of those, which the group has forgotten (same token, other rows: dropped)',
    file: 'src/sink/chunks/chunk.ts',
    find: 'const { groupId, topic, partition, logId, startOffset, endOffset, leaderEpoch } = chunk;',
    replace: `const { groupId, topic, partition, logId, startOffset, endOffset } = chunk;
  const leaderEpoch = 0;`,
    needs: ['unclean_election', 'commits_expired'],
  },
  {
    name: 'profile-not-overridden',
    bug: 'an insert leaves it to the profile of its user whether its token counts (ClickHouse 26.2: deduplicate_insert)',
    file: 'src/sink/client/insert-settings.ts',
    find: "deduplicate_insert: { value: 'enable', alike: ['backward_compatible_choice'] },",
    replace: '',
    needs: ['profile_off'],
  },
  {
    name: 'new-settings-on-an-old-server',
    bug: 'settings of ClickHouse 26.2 are sent to a server that refuses them',
    file: 'src/sink/client/insert-settings.ts',
    find: 'return { ...settings, ...acknowledged, insert_deduplication_token: token };',
    replace:
      "return { ...settings, ...acknowledged, deduplicate_insert: 'enable', insert_deduplication_token: token };",
    needs: ['old_server'],
  },
  {
    name: 'replica-read-trusted',
    bug: 'what a replica that is behind says of a chunk decides what is sent (ClickHouse: select_sequential_consistency)',
    file: 'src/sink/chunks/chunk-store.ts',
    find: 'this.#requireServer(row.server);',
    replace: 'void this.#requireServer;',
    needs: ['lagging_replica'],
  },
  {
    name: 'replica-not-noticed',
    bug: 'another server behind the same name passes for the one of the start',
    file: 'src/sink/guard/store-guard.ts',
    find: 'if (this.#fatal === undefined && identity !== this.#identity) {',
    replace: "if (this.#fatal === undefined && identity === '') {",
    needs: ['lagging_replica'],
  },
  {
    name: 'retry-with-other-bytes',
    bug: 'the buffer of a block that is being sent is used for the next one',
    file: 'src/sink/native/native-block.ts',
    find: 'return Buffer.concat(parts);',
    replace: `const kept = globalThis as { sent?: Buffer };
  kept.sent ??= Buffer.alloc(1 << 22);
  const bytes = Buffer.concat(parts);
  bytes.copy(kept.sent);
  return kept.sent.subarray(0, bytes.length);`,
  },
];
