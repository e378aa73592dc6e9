import { describe, expect, it } from 'vitest';
import { KafkaAdmin } from '../../src/kafka/client/kafka-admin.ts';
import { createKafkaClient } from '../../src/kafka/client/kafka-client.ts';
import { ensureTopics } from '../../src/kafka/client/kafka-topics.ts';
import { findPartitions } from '../../src/kafka/client/partition-lookup.ts';
import { KafkaClaim } from '../../src/kafka/kafka-claim.ts';
import { useStack } from '../containers/stack.ts';
import { poll } from './kit/poll.ts';
import { untilGone } from './kit/present-topics.ts';
import { withRig } from './kit/with-rig.ts';

const stack = useStack();

describe('a log', () => {
  it('has the ids of its cluster and its topic, and the ends of its leader epochs', () =>
    withRig({ stack, name: 'log-ids', partitions: 2 }, async (rig) => {
      await rig.publish([0, 1, 2].map((n) => ({ value: `${n}`, partition: 0 })));
      const admin = new KafkaAdmin(createKafkaClient(rig.config.kafka));
      await admin.client.connect();
      try {
        const owner = {
          send: async () => {},
          lost: () => {},
          pause: () => {},
          readAgain: () => {},
        };
        const claims = [0, 1].map((n) => new KafkaClaim(rig.topic, n, owner));
        // Asked again like the source does: a coordinator or leader may still be starting.
        const look = async () => {
          const found = await poll('the partitions are found', () =>
            findPartitions(admin, 'g', claims).catch(() => undefined),
          );
          return [...found.values()];
        };
        const [first, second] = await look();
        const { clusterId } = await admin.client.describeCluster();
        // As Kafka prints both: 16 bytes in base64url.
        expect(first?.logId).toMatch(/^[\w-]{22}\/[\w-]{22}$/);
        expect(first?.logId.split('/')[0]).toBe(clusterId);
        expect(second?.logId).toBe(first?.logId);
        expect([first?.startOffset, first?.endOffset, second?.endOffset]).toEqual([0, 3, 0]);
        expect(await first?.endOfEpoch(0)).toEqual({ leaderEpoch: 0, endOffset: 3 });
        expect(await second?.endOfEpoch(0)).toEqual({ leaderEpoch: 0, endOffset: 0 });
        // An epoch that the log has never had, and none at all.
        expect(await first?.endOfEpoch(99)).toBeUndefined();
        expect(await first?.endOfEpoch(-1)).toBeUndefined();

        await admin.client.deleteTopics({ topics: [rig.topic] });
        await untilGone(rig.config.kafka, rig.topic);
        await ensureTopics(rig.config.kafka, [{ topic: rig.topic, partitions: 2 }]);
        const [again] = await look();
        expect(again?.logId.split('/')[0]).toBe(clusterId);
        expect(again?.logId).not.toBe(first?.logId);
      } finally {
        await admin.close();
      }
    }));
});
