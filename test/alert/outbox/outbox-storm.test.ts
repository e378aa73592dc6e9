import { describe, expect, it } from 'vitest';
import type { Answer } from '../../../src/alert/receiver.ts';
import { hourMs } from '../../../src/base/time.ts';
import { FakeReceiver } from './fake-receiver.ts';
import { fine, resolved, World } from './world.ts';

describe('many anomalies, bad receivers and kills, by seed', () => {
  it.each(Array.from({ length: 60 }, (_, i) => i + 1))(
    'lose nothing and keep the order of each key (seed %i)',
    async (seed) => {
      await runStorm(seed);
    },
  );
});

/**
 * Emits anomalies while receivers fail at random, take up to two seconds, or keep their answer to themselves,
 * and the process is killed; then all is repaired.
 */
async function runStorm(seed: number): Promise<void> {
  let state = seed * 2_654_435_761;
  const random = () => {
    state = (state * 1_664_525 + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
  const hook = new FakeReceiver('hook', 'revisions');
  const pager = new FakeReceiver('pager', 'pager');
  const world = await World.started(hook, pager);
  const answers: readonly Answer[] = [
    { outcome: 'failed', answer: '500' },
    { outcome: 'failed', answer: 'no response', mayHaveArrived: true },
    { outcome: 'rejected', answer: '401' },
    ...[fine(), fine(), fine()],
  ];
  for (const receiver of [hook, pager]) {
    receiver.arrives = () => random() < 0.5;
    receiver.answer = async () => {
      await world.clock.sleep(random() * 2_000);
      return answers[Math.floor(random() * answers.length)] ?? fine();
    };
  }
  const ids = Array.from({ length: 25 }, (_, i) => `a${i}`);
  const last = new Map<string, number>();
  for (let step = 0; step < 120; step++) {
    const id = ids[Math.floor(random() * ids.length)] ?? '';
    const revision = (last.get(id) ?? 0) + 1;
    if (revision <= 4) {
      last.set(id, revision);
      const state = revision === 1 ? 'opened' : revision === 4 ? 'resolved' : 'updated';
      const severity = revision < 3 ? 'warning' : 'critical';
      const end = state === 'resolved' ? resolved : {};
      await world.emit({ id, revision, state, severity, ...end });
    }
    await world.clock.advance(random() * 20_000);
    if (random() < 0.08) await world.restart(random() * 5_000);
  }
  for (const receiver of [hook, pager]) receiver.answer = fine;
  await world.clock.advance(hourMs);
  // What was accepted without a record of it comes again.
  const once = (all: readonly string[], id: string) => [
    ...new Set(all.filter((each) => each.startsWith(`${id}/`))),
  ];
  const revisions = (id: string) =>
    once(hook.accepted, id).map((each) => Number(each.split(/[/ ]/)[1]));
  for (const [id, revision] of last) {
    expect(revisions(id)).toEqual(Array.from({ length: revision }, (_, i) => i + 1));
    const pages = once(pager.accepted, id);
    const changes = [...new Set(pages.map((each) => each.split(' ')[1]))];
    // The end alone opens nothing: the opening may have been accepted by then, for all that tailmark knows.
    expect(changes.join(' ')).toMatch(/^(opened)?( risen)?( ?resolved)?$/);
    if (revision < 4) expect(changes[0]).toBe('opened');
    if (changes.length > 0 && revision === 4) expect(changes.at(-1)).toBe('resolved');
  }
}
