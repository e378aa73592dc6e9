import { expect, it } from 'vitest';
import type { AnomalyEvent } from '../../../src/detect/event/anomaly-event.ts';
import { reconcileOpen } from '../../../src/detect/lifecycle/reconcile-open.ts';

const event = (id: string, revision: number) => ({ id, revision }) as AnomalyEvent;

/** An open anomaly of the detector that records calls on it. */
function own(id: string, revision: number) {
  const done: string[] = [];
  const adopt = (emitted: AnomalyEvent) => done.push(`adopt ${emitted.id}`);
  const open = {
    event: event(id, revision),
    isEmitted: true,
    adopt,
    unannounce: () => done.push('un'),
  };
  return { done, open };
}

it.each([
  ['the same event', event('x', 2), [], 'same', ['adopt x']],
  ['another revision of it', event('x', 1), [], 'other', []],
  ['another anomaly', event('y', 2), [], 'other', []],
  ['nothing any more, though it was emitted', undefined, ['x'], 'over', []],
  ['nothing, and it was not emitted', undefined, [], 'same', ['un']],
] as const)('emitted events count: %s', (_, emitted, known: readonly string[], outcome, done) => {
  const { open, done: did } = own('x', 2);
  expect(reconcileOpen(open, emitted, (id) => known.includes(id))).toBe(outcome);
  expect(did).toEqual(done);
});
