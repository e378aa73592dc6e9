import { createRequire } from 'node:module';
import { expect, it } from 'vitest';
import { beatAfterClockChange } from '../../../../src/kafka/patches/group/beat-after-clock-change.ts';

const load = createRequire(import.meta.url);
const KafkajsGroup: new (
  options: unknown,
) => {
  memberId: string;
  coordinator: { heartbeat(): Promise<unknown> };
  heartbeat(options: { interval: number }): Promise<void>;
  lastRequest: number;
} = load('kafkajs/src/consumer/consumerGroup.js');

it('sends a heartbeat each interval, also after the clock was set back by six minutes', async () => {
  let sent = 0;
  let shiftMs = 0;
  const now = Date.now;
  class ConsumerGroup extends KafkajsGroup {}
  beatAfterClockChange(ConsumerGroup, () => Date.now());
  beatAfterClockChange(ConsumerGroup, () => Date.now());
  const logger: { namespace(): unknown } = { namespace: () => logger };
  const member = new ConsumerGroup({ logger, instrumentationEmitter: { emit: () => undefined } });
  member.memberId = 'm';
  member.coordinator = { heartbeat: async () => sent++ };
  Date.now = () => now() + shiftMs;
  try {
    const beats = async () => {
      const before = sent;
      await member.heartbeat({ interval: 3_000 });
      return sent - before;
    };
    expect(await beats()).toBe(0);
    shiftMs = 3_001;
    expect(await beats()).toBe(1);
    expect(await beats()).toBe(0);
    shiftMs = -360_000;
    expect(await beats()).toBe(1);
    expect(await beats()).toBe(0);
  } finally {
    Date.now = now;
  }
});
