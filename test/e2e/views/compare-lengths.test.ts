import { expect, it } from 'vitest';
import { minuteMs } from '../../../src/base/time.ts';
import { TDigest } from '../../../src/sketch/t-digest.ts';
import { useStack } from '../../containers/stack.ts';
import { packed } from '../kit/packed.ts';
import { servedMinutes as minutes, served, servedEvents } from '../kit/served-answers.ts';
import { withRig } from '../kit/with-rig.ts';

const stack = useStack();
it('a version with answers twice as long has the tails at the lengths of the other, against raw events', () =>
  withRig({ stack, name: 'compare-lengths' }, async (rig) => {
    const startMs = Math.floor(Date.now() / minuteMs - minutes - 5) * minuteMs;
    const sent = [
      ...servedEvents(startMs, { version: 'v1' }, served('v1', 120, 10)),
      ...servedEvents(startMs, { version: 'long' }, served('long', 240, 12)),
    ].toSorted((a, b) => a.ts - b.ts);
    const last = { ts: startMs + (minutes + 1) * minuteMs, model: 'x', stages_ms: { forward: 1 } };
    await rig.publish(packed([...sent, last]));
    const pipeline = await rig.start(['ingest']);
    await rig.untilConsumed(sent.length + 1);
    await pipeline.stop();

    const since = new Date(startMs).toISOString();
    const asked = ['compare', '--model', 'chat', '--a', 'v1', '--b', 'long', '--since', since];
    const { out } = await rig.cli([...asked, '--json']);
    const { mix, quantiles, like_with_like } = JSON.parse(out) as {
      readonly mix: readonly string[];
      readonly quantiles: readonly { readonly q: number; readonly candidate_ms: number }[];
      readonly like_with_like: readonly { readonly q: number; readonly candidate_ms: number }[];
    };
    expect(mix.every((text) => text.startsWith('output_tokens '))).toBe(true);
    // The longer version with answers of the other: its time per token is its own.
    const truth = TDigest.fromValues(served('truth', 120, 12).map(({ totalMs }) => totalMs));
    for (const q of [0.5, 0.95, 0.99]) {
      const of = (at: typeof quantiles) => at.find((each) => each.q === q)?.candidate_ms ?? 0;
      expect(of(quantiles) / truth.quantile(q)).toBeGreaterThan(1.5);
      expect(Math.abs(of(like_with_like) / truth.quantile(q) - 1)).toBeLessThan(0.15);
    }
  }));
