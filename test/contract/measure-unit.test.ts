import { expect, it } from 'vitest';
import { kindWords } from '../../src/alert/message/kind-words.ts';
import type { AnomalyEvent } from '../../src/contract/anomaly-event.ts';
import { blameText } from '../../src/contract/blame-text.ts';
import { countedNoun, perUnit, stageLabel } from '../../src/contract/measure-unit.ts';
import { anomalySummary } from '../../src/detect/event/anomaly-summary.ts';
import { anomalyFixture } from './anomaly-fixture.ts';

it.each([
  ['time_per_output_token', ' per token'],
  ['prefill_per_1k_input_tokens', ' per 1,000 tokens'],
  ['inter_token_latency', ' between tokens'],
  ['decode', ''],
  ['total', ''],
  ['constructor', ''],
])('of %s is "%s"', (stage, unit) => {
  expect(perUnit(stage)).toBe(unit);
});

it.each([
  ['first_token', 'TTFT (first_token)'],
  ['time_to_first_token', 'TTFT (time_to_first_token)'],
  ['time_per_output_token', 'TPOT (time_per_output_token)'],
  ['prefill_per_1k_input_tokens', 'prefill_per_1k_input_tokens'],
  ['total', 'total'],
  ['constructor', 'constructor'],
])('users call %s "%s"', (stage, label) => {
  expect(stageLabel(stage)).toBe(label);
});

it('counts of gaps are of gaps, all others of requests', () => {
  const nouns = ['inter_token_latency', 'time_per_output_token', 'total'].map(countedNoun);
  expect(nouns).toEqual(['gap', 'request', 'request']);
});

it('follows the milliseconds of a measure in sentences', () => {
  const stage = 'time_per_output_token';
  const fixture = anomalyFixture({ stage, observed_ms: 45, baseline_ms: 15, ratio: 3 });
  const event: AnomalyEvent = {
    ...fixture,
    blame: [{ stage, class: 'decode', excess_ms: 30, share: 1 }],
    evidence: { ...fixture.evidence, measured_stage: stage },
  };
  expect(anomalySummary(event)).toContain('is 45 ms per token, 3.0x its baseline of 15 ms');
  expect(blameText(event)).toBe('p99 of time_per_output_token +30 ms per token');
  const { headline, measured } = kindWords.tail_shift;
  expect(headline(event)).toBe(
    'p99 of TPOT (time_per_output_token) 45 ms per token, 3.0x its baseline',
  );
  expect(measured(event)).toContain('p99 of TPOT (time_per_output_token) 45 ms per token (');
});
