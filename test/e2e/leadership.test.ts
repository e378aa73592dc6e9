import { describe, expect, it } from 'vitest';
import { systemClock } from '../../src/base/clock.ts';
import { createKafkaClient } from '../../src/kafka/client/kafka-client.ts';
import { KafkaLeadership } from '../../src/kafka/leadership/kafka-leadership.ts';
import { useStack } from '../containers/stack.ts';
import { poll } from './kit/poll.ts';
import type { Rig } from './kit/rig.ts';
import { withRig } from './kit/with-rig.ts';

const stack = useStack();
const sessionTimeoutMs = 3_000;

async function join(rig: Rig, clock = systemClock, storeId = 'a'): Promise<KafkaLeadership> {
  const { config, log } = rig;
  const leadership = await KafkaLeadership.open({
    ...{ kafka: createKafkaClient(config.kafka, { log }), config: config.kafka, topic: rig.topic },
    ...{ groupId: `${config.kafka.group_id}-detect`, sessionTimeoutMs, storeId, clock, log },
  });
  rig.atEnd(() => leadership.stop());
  return leadership;
}

const leaderAmong = (members: readonly KafkaLeadership[]) =>
  poll('one of them leads', () => {
    const leading = members.filter((member) => member.isLeading());
    expect(leading.length).toBeLessThan(2);
    return leading[0];
  });

describe('the lead of a group', () => {
  it('has one of its members, who keeps it when others come and go, until it goes', () =>
    withRig({ stack, name: 'lead' }, async (rig) => {
      const first = await join(rig);
      expect(await leaderAmong([first])).toBe(first);
      const second = await join(rig);
      const third = await join(rig);
      const admin = createKafkaClient(rig.config.kafka).admin();
      await admin.connect();
      rig.atEnd(() => admin.disconnect());
      const members = async () => {
        const { groups } = await admin.describeGroups([`${rig.config.kafka.group_id}-detect`]);
        return groups[0]?.state === 'Stable' ? groups[0].members.length : 0;
      };
      await poll('all are members', async () => ((await members()) === 3 ? true : undefined));
      expect(await leaderAmong([first, second, third])).toBe(first);
      await second.stop();
      await poll('one is gone', async () => ((await members()) === 2 ? true : undefined));
      expect(await leaderAmong([first, third])).toBe(first);
      await first.stop();
      expect(first.isLeading()).toBe(false);
      expect(await leaderAmong([first, third])).toBe(third);
      expect(third.problems()).toEqual([]);
    }));

  it('is one for each database that shares the group', () =>
    withRig({ stack, name: 'two_leads' }, async (rig) => {
      const first = await join(rig);
      expect(await leaderAmong([first])).toBe(first);
      const others = [await join(rig, systemClock, 'b'), await join(rig, systemClock, 'b')];
      const theirs = await leaderAmong(others);
      expect(await leaderAmong([first])).toBe(first);
      await theirs.stop();
      const successor = await leaderAmong(others);
      expect(successor).not.toBe(theirs);
      expect(await leaderAmong([first])).toBe(first);
    }));

  it('lasts no longer than a session after the last heartbeat that was sent', () =>
    withRig({ stack, name: 'lease' }, async (rig) => {
      // As after a process was stopped: time has passed without it.
      let stoppedMs = 0;
      const clock = { ...systemClock, elapsedMs: () => systemClock.elapsedMs() + stoppedMs };
      const member = await join(rig, clock);
      await leaderAmong([member]);
      stoppedMs = sessionTimeoutMs;
      expect(member.isLeading()).toBe(false);
      // It is still a member here: its next heartbeat gives the lead back.
      expect(await leaderAmong([member])).toBe(member);
      stoppedMs += 100 * sessionTimeoutMs;
      expect(member.problems().join()).toMatch(/^detect: not in the group .*-detect for 30\d s/);
    }));
});
