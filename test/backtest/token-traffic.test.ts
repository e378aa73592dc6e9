import { describe, expect, it } from 'vitest';
import { Backtest } from '../../src/backtest/backtest.ts';
import { MemoryWindows } from '../../src/backtest/memory-windows.ts';
import { minuteMs } from '../../src/base/time.ts';
import { configSchema } from '../../src/config/schema.ts';
import type { AnomalyEvent } from '../../src/contract/anomaly-event.ts';
import { mulberry32, SeededRandom } from '../base/seeded-random.ts';

const startMs = Date.UTC(2026, 10, 2, 9);
const config = configSchema.parse({ detect: { baseline: '40m' } });
const calmMinutes = 40;
const faultMinutes = 10;
const perSecond = 12;

/** What is different in the last minutes. */
interface Change {
  /** Factor of the output tokens of some requests. */
  readonly answers?: number;
  readonly share?: number;
  readonly msPerToken?: number;
  readonly msPerInputToken?: number;
}

const calm = { answers: 1, share: 1, msPerToken: 11, msPerInputToken: 0.1 };

/** Anomalies of an LLM server whose requests take as long as their tokens need, and a little more. */
function anomaliesOf(change: Change, seed = 59): readonly AnomalyEvent[] {
  const random = new SeededRandom(seed, mulberry32);
  const windows = new MemoryWindows(config);
  const backtest = new Backtest(config.detect, (event) => windows.explained(event));
  const lognormal = (median: number, sigma: number) => median * Math.exp(sigma * random.normal());
  const evaluate = (isOver: boolean) => {
    for (const at of windows.complete(isOver)) backtest.evaluate([at]);
  };
  const endMs = startMs + (calmMinutes + faultMinutes) * minuteMs;
  let ts = startMs;
  while (ts < endMs) {
    ts -= (Math.log(1 - random.unit()) / perSecond) * 1000;
    const now = ts < startMs + calmMinutes * minuteMs ? calm : { ...calm, ...change };
    const factor = random.unit() < now.share ? now.answers : 1;
    const inputTokens = Math.ceil(lognormal(600, 0.8));
    const outputTokens = Math.ceil(factor * Math.min(900, lognormal(120, 0.7)));
    const queue = lognormal(5, 0.5);
    const prefill = (20 + now.msPerInputToken * inputTokens) * lognormal(1, 0.15);
    const decode = now.msPerToken * (outputTokens - 1) * lognormal(1, 0.12);
    const event = {
      ...{ ts: Math.floor(ts), model: 'llm', total_ms: queue + prefill + decode },
      stages_ms: { queue, prefill, first_token: queue + prefill, decode },
      ...{ input_tokens: inputTokens, output_tokens: outputTokens },
    };
    windows.consume(Buffer.from(JSON.stringify(event)));
    evaluate(false);
  }
  evaluate(true);
  return backtest.anomalies;
}

const shown = (events: readonly AnomalyEvent[]) => events.map(({ summary }) => summary).join('\n');

describe('of an LLM server', () => {
  it.each([1, 2])(
    'longer answers at the same speed are one page of traffic mix, never critical',
    (seed) => {
      const events = anomaliesOf({ answers: 4, share: 0.4 }, seed);
      expect(events, shown(events)).toHaveLength(1);
      expect(events[0]).toMatchObject({ bottleneck: 'traffic_mix', severity: 'warning' });
      expect(events[0]?.mix_share).toBeGreaterThan(0.5);
    },
  );

  it.each([1, 2])(
    'slower tokens are decode, by the time per output token, also of shorter answers',
    (seed) => {
      const events = anomaliesOf({ msPerToken: 22, answers: 0.5 }, seed);
      expect(events, shown(events)).toHaveLength(1);
      expect(events[0]).toMatchObject({ stage: 'time_per_output_token', bottleneck: 'decode' });
      expect(events[0]?.evidence.measured_stage).toBe('time_per_output_token');
    },
  );

  it('slower tokens of answers as long as before are decode', () => {
    const events = anomaliesOf({ msPerToken: 26 });
    expect(events, shown(events)).toHaveLength(1);
    expect(events[0]?.bottleneck).toBe('decode');
  });

  it('nothing has happened where nothing did', () => {
    const events = anomaliesOf({});
    expect(events, shown(events)).toEqual([]);
  });
});
