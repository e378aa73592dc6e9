import { describe, expect, it } from 'vitest';
import { hourMs } from '../../src/base/time.ts';
import { KnownHistory } from '../../src/detect/known-history.ts';
import { StateReader } from '../../src/snapshot/archive-reader.ts';
import { StateWriter } from '../../src/snapshot/archive-writer.ts';

const fromMs = Date.parse('2026-11-29T09:14:00Z');

describe('the known history', () => {
  it('is short where it was truncated, until it is as long as a baseline', () => {
    const history = new KnownHistory(hourMs);
    history.truncate(fromMs);
    expect(history.shortFromMs(fromMs + hourMs - 1)).toBe(fromMs);
    expect(history.shortFromMs(fromMs + hourMs)).toBeUndefined();
    expect(history.shortUntilMs).toBe(fromMs + hourMs);
  });

  it('is not short where all of it was read, however young', () => {
    expect(new KnownHistory(hourMs).shortFromMs(fromMs)).toBeUndefined();
  });

  it.each([fromMs, undefined])('is the same from a snapshot: %s', (truncatedMs) => {
    const [history, restored] = [new KnownHistory(hourMs), new KnownHistory(hourMs)];
    if (truncatedMs !== undefined) history.truncate(truncatedMs);
    const writer = new StateWriter();
    history.serialize(writer);
    restored.serialize(new StateReader(writer.drain()));
    expect(restored.shortFromMs(fromMs + 1)).toBe(truncatedMs);
  });
});
