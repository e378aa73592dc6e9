// Covers src/roles/assemble/event-check.ts.

import { describe, expect, it } from 'vitest';
import { loadConfig } from '../../../src/config/load/load-config.ts';
import { EventCheck } from '../../../src/roles/assemble/event-check.ts';
import { EventMessages } from '../../../src/roles/assemble/event-messages.ts';

const { config } = loadConfig({ env: {}, readFile: () => '' });
const limited = (bytes: number) => {
  const limits = { ...config.limits, max_message_bytes: bytes };
  return new EventMessages(new EventCheck({ limits }), bytes);
};
const event = (id: string) => ({ ts: 1_795_608_000_000, model: 'größe', id, total_ms: 5 });
const lines = (messages: readonly Buffer[]) =>
  messages.flatMap((message) =>
    message
      .toString()
      .split('\n')
      .map((line) => JSON.parse(line)),
  );

describe('messages of events', () => {
  it('are no larger than what ingest reads, and hold each event once and in order', () => {
    const messages = limited(1_024);
    const events = Array.from({ length: 100 }, (_, n) => event(`ü-${n}`));
    for (const one of events) expect(messages.add(one)).toBeUndefined();
    const taken = messages.take();
    expect(lines(taken)).toEqual(events);
    expect(taken.length).toBeGreaterThan(5);
    expect(taken.length).toBeLessThan(20);
    for (const message of taken) expect(message.length).toBeLessThanOrEqual(1_024);
    expect(messages.take()).toEqual([]);
  });

  it('have a large event in a message of its own, and refuse one that ingest cannot read', () => {
    const messages = limited(1_024);
    const large = event('x'.repeat(200));
    const stages = Array.from({ length: 8 }, (_, n) => [`${n}`.padStart(50, 's'), n] as const);
    const wide = { ...event('b'), stages_ms: Object.fromEntries(stages) };
    expect(messages.add(event('a'))).toBeUndefined();
    expect(messages.add(wide)).toBeUndefined();
    expect(messages.add(large)).toBeUndefined();
    const tooLarge = { ...event('c'), stages_ms: { ['s'.repeat(2_000)]: 1 } };
    expect(messages.add(tooLarge)?.reason).toBe('message_too_large');
    expect(messages.add({ ...event('d'), total_ms: -1 })).toEqual({
      reason: 'bad_duration',
      detail: expect.stringContaining('total_ms'),
    });
    expect(messages.add(event('e'))).toBeUndefined();
    const taken = messages.take();
    expect(lines(taken)).toEqual([event('a'), wide, large, event('e')]);
    expect(taken.map((message) => lines([message]).length)).toEqual([1, 1, 2]);
  });
});
