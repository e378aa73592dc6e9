import { expect, test } from 'vitest';
import { outcomeOf } from '../../src/assemble/event/trace-outcome.ts';
import { childrenRules } from '../../src/assemble/event/trace-rules.ts';
import { stageNameOf } from '../../src/assemble/event/trace-stages.ts';
import type { TraceSpan } from '../../src/assemble/trace.ts';
import { loadConfig } from '../../src/config/load/load-config.ts';
import { EventCheck } from '../../src/roles/assemble/event-check.ts';
import { spanOf } from './restart-world.ts';

const { config } = loadConfig({ env: {}, readFile: () => '' });
const fields = { ts: 1_795_608_000_000, model: 'm', trace_id: 'ab', status: 'ok' };
const root: TraceSpan = { ...spanOf(1), name: 'POST /v1/rank', durationMs: 1_000, fields };

/** The event of a trace whose root has children of these names, 1 ms each, after ingest's check. */
function eventOf(names: readonly string[]) {
  const children = names.map((name, n) => ({ ...spanOf(n + 2), parentLow: 1, name }));
  const trace = { traceId: 'ab', offset: 0, index: 0, spansLeftOut: 0, duplicates: 0 };
  const spans = [root, ...children];
  const outcome = outcomeOf({ ...trace, spans, cause: 'wait' }, childrenRules);
  if (!('event' in outcome)) throw new Error(outcome.detail);
  const problem = new EventCheck(config).problemOf(Buffer.from(JSON.stringify(outcome.event)));
  return { stages: outcome.event.stages_ms, problem };
}

test.each([
  ['queue', 'queue'],
  ['GET /features/v1', 'GET_/features/v1'],
  ['SELECT mydb.users', 'SELECT_mydb.users'],
  ['größe (µs)', 'gr_e_s_'],
  ['2nd try', 'span_2nd_try'],
  ['/health', 'span_/health'],
  ['total', 'span_total'],
  ['', 'span_'],
  ['__proto__', 'span___proto__'],
  ['x'.repeat(70), 'x'.repeat(64)],
  ['9'.repeat(70), `span_${'9'.repeat(59)}`],
])('a child named %j is the stage %s, which ingest takes', (name, stage) => {
  expect(stageNameOf(name)).toBe(stage);
  expect(eventOf([name])).toEqual({ stages: { [stage]: 1 }, problem: undefined });
});

test('names that become one stage add up', () => {
  expect(eventOf(['GET a', 'GET_a', 'GET\ta']).stages).toEqual({ GET_a: 3 });
});

test('beyond the stages that an event may name, the rest is one', () => {
  const { stages, problem } = eventOf(Array.from({ length: 100 }, (_, n) => `s${n}`));
  expect(problem).toBeUndefined();
  expect(Object.keys(stages ?? {})).toHaveLength(64);
  expect(stages?.s62).toBe(1);
  expect(stages?.other_spans).toBe(37);
});
