// Covers src/kafka/group/group-stores.ts.

import kafkajs, { type Admin, type ConsumerGroupState } from 'kafkajs';
import { expect, it } from 'vitest';
import type { Logger } from '../../../src/base/telemetry/log.ts';
import { encodeMemberData } from '../../../src/kafka/group/member-data.ts';
import { StoreMembership } from '../../../src/kafka/group/store-membership.ts';

const { MemberMetadata } = kafkajs.AssignerProtocol;

/** A group whose members are databases, by the time at which they started. */
class World {
  state: ConsumerGroupState = 'Stable';
  failure: Error | undefined;
  members: Readonly<Record<string, number>> = {};
  readonly lines: string[] = [];
  onSleep: () => void = () => undefined;

  join(storeId: string, sinceMs: number): StoreMembership {
    const admin = { describeGroups: async () => this.#describe() } as Pick<Admin, 'describeGroups'>;
    return new StoreMembership({
      ...{ groupId: 'g', topics: ['t'], storeId, admin },
      clock: { nowMs: () => sinceMs, sleep: async () => this.onSleep() },
      log: { warn: ({ err }: { err: string }) => this.lines.push(err) } as unknown as Logger,
    });
  }

  #describe() {
    if (this.failure !== undefined) throw this.failure;
    const members = Object.entries(this.members).map(([storeId, sinceMs]) => {
      const userData = encodeMemberData({ storeId, sinceMs });
      const memberMetadata = MemberMetadata.encode({ version: 0, topics: ['t'], userData });
      const rest = { clientId: 'c', clientHost: '/h', memberAssignment: Buffer.alloc(0) };
      return { memberId: `m-${storeId}`, memberMetadata, ...rest };
    });
    const [protocol, protocolType] = ['RoundRobinAssigner', 'consumer'];
    return { groups: [{ groupId: 'g', members, protocol, protocolType, state: this.state }] };
  }
}

it('ends for the database that came later, and not for the other', async () => {
  const world = new World();
  const [old, young] = [world.join('old', 1), world.join('young', 2)];
  world.members = { young: 2, old: 1 };
  expect(await old.joined()).toBeUndefined();
  expect(await young.joined()).toMatchObject({
    code: 'TAILMARK_GROUP_SHARED',
    exitCode: 78,
    message:
      'Cannot ingest as consumer group g must store topic t into one database: m-old uses another one',
    hint: expect.stringContaining('kafka.group_id of its own'),
  });
  world.members = { young: 2 };
  expect(await young.joined()).toBeUndefined();
});

it('looks again while the group rebalances or Kafka does not respond', async () => {
  const world = new World();
  const member = world.join('young', 2);
  world.members = { young: 2, old: 1 };
  world.state = 'PreparingRebalance';
  let sleeps = 0;
  world.onSleep = () => {
    sleeps++;
    world.state = 'Stable';
    world.failure = sleeps === 1 ? new Error('no response') : undefined;
  };
  expect(await member.joined()).toMatchObject({ code: 'TAILMARK_GROUP_SHARED' });
  expect([sleeps, world.lines]).toEqual([2, ['no response']]);
});

it('leaves a generation that is over to the next look, and stops at the end', async () => {
  const world = new World();
  const member = world.join('young', 2);
  world.members = { young: 2, old: 1 };
  world.state = 'PreparingRebalance';
  let next: Promise<unknown> | undefined;
  world.onSleep = () => {
    world.onSleep = () => member.stop();
    next ??= member.joined();
  };
  expect(await member.joined()).toBeUndefined();
  expect(await next).toBeUndefined();
});
