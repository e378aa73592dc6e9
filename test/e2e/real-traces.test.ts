import { createReadStream, existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { createGunzip } from 'node:zlib';
import { describe, expect, test } from 'vitest';
import { readLines } from '../../src/generate/replay/read-lines.ts';
import type { Resolution } from '../../src/sink/windows/read-tails.ts';
import { useStack } from '../containers/stack.ts';
import type { Rig } from './kit/rig.ts';
import { stageSums } from './kit/stage-sums.ts';
import { type CountedEvent, truthOf } from './kit/truth.ts';
import { withRig } from './kit/with-rig.ts';

const stack = useStack();

/** Real traces, which are not part of the project; see docs/ for their sources. */
const folder = fileURLToPath(new URL('../../../shared/data/', import.meta.url));
const stages = `${folder}gentd26-stages.ndjson.gz`;
const requests = `${folder}gentd26-requests.ndjson.gz`;
const missing = [stages, requests].filter((file) => !existsSync(file));
if (missing.length > 0) {
  process.stderr.write(
    `real traces are not replayed as they are not here: ${missing.join(', ')}\n`,
  );
}

const quantiles = [0.5, 0.9, 0.99] as const;

async function eventsOf(file: string): Promise<CountedEvent[]> {
  const events: CountedEvent[] = [];
  const bytes = createReadStream(file).pipe(createGunzip());
  for await (const lines of readLines(bytes)) {
    for (const line of lines) events.push(JSON.parse(line.toString()) as CountedEvent);
  }
  return events;
}

/** Durations by stage, sorted. */
function durationsOf(events: readonly CountedEvent[]): Map<string, Float64Array> {
  const lists = new Map<string, number[]>();
  const add = (stage: string, ms: number) => {
    const list = lists.get(stage);
    if (list === undefined) lists.set(stage, [ms]);
    else list.push(ms);
  };
  for (const { stages_ms = {}, total_ms } of events) {
    for (const [stage, ms] of Object.entries(stages_ms)) add(stage, ms);
    if (total_ms !== undefined) add('total', total_ms);
  }
  return new Map([...lists].map(([stage, list]) => [stage, Float64Array.from(list).sort()]));
}

/** The least value that at least a part q of all is at most. */
function exactQuantile(sorted: Float64Array, q: number): number {
  return sorted[Math.max(0, Math.ceil(q * sorted.length) - 1)] as number;
}

async function storedQuantiles(
  rig: Rig,
  resolution: Resolution,
): Promise<Map<string, readonly number[]>> {
  const rows = await rig.rows<{ stage: string; q: number[] }>(
    `SELECT stage, quantilesTDigestMerge(${quantiles.join(', ')})(latency) AS q
     FROM {table:Identifier} GROUP BY stage ORDER BY stage`,
    { table: `latency_${resolution}` },
  );
  return new Map(rows.map(({ stage, q }) => [stage, q]));
}

/** Replays a file through Kafka while a pipeline reads it, until all of it is stored. */
async function replayThrough(rig: Rig, file: string, events: number): Promise<void> {
  await rig.start(['ingest']);
  const argv = ['replay', file, '--speed', 'max', '--rebase', 'now', '--json'];
  const { exitCode, out } = await rig.cli(argv);
  expect([exitCode, JSON.parse(out)]).toMatchObject([0, { events, unchanged: 0 }]);
  await rig.untilConsumed(events);
}

async function expectQuantiles(
  rig: Rig,
  resolution: Resolution,
  durations: ReadonlyMap<string, Float64Array>,
): Promise<void> {
  const stored = await storedQuantiles(rig, resolution);
  expect([...stored.keys()].sort()).toEqual([...durations.keys()].sort());
  for (const [stage, sorted] of durations) {
    quantiles.forEach((q, i) => {
      const exact = exactQuantile(sorted, q);
      const error = Math.abs((stored.get(stage)?.[i] ?? Number.NaN) - exact) / exact;
      expect(error, `p${q * 100} of ${stage}, ${exact} ms, is off by ${error}`).toBeLessThan(0.01);
    });
  }
}

describe('a production trace', () => {
  test.skipIf(missing.length > 0)(
    'of stages over 23 hours is counted to the request, its percentiles within 1 %',
    () =>
      withRig({ stack, name: 'stages', partitions: 2 }, async (rig) => {
        const events = await eventsOf(stages);
        const truth = truthOf(events);
        const counts = Object.fromEntries(
          Object.entries(truth).map(([stage, { requests: count }]) => [stage, count]),
        );
        // As published with the trace; this identifies the file.
        expect(counts).toEqual({
          adapter_load: 27_415,
          controlnet_load: 29_221,
          forward: 6_254,
          model_load: 7_531,
          pipeline_load: 36_046,
          queue: 23_478,
          total: 34_421,
        });
        await replayThrough(rig, stages, 164_366);
        await rig.expectStages(truth);
        await expectQuantiles(rig, '1h', durationsOf(events));
        const { totals } = await rig.expectVerified();
        expect(totals).toEqual({
          consumed: 164_366,
          aggregated: 164_366,
          rejected: 0,
          late: 0,
          overflow: 0,
          unmapped: 0,
          weight: 164_366,
          samples: 164_366,
        });
      }),
  );

  test.skipIf(missing.length > 0)(
    'of whole requests over 23 days is counted to the request, its percentiles within 1 %',
    () =>
      withRig({ stack, name: 'requests', partitions: 1 }, async (rig) => {
        const events = await eventsOf(requests);
        const truth = truthOf(events);
        await replayThrough(rig, requests, 26_823);
        for (const resolution of ['1h', '1d'] as const) {
          const stored = await stageSums(rig.client, resolution);
          expect({ resolution, stored }).toEqual({ resolution, stored: truth });
          await expectQuantiles(rig, resolution, durationsOf(events));
        }
        const [failed] = await rig.rows<{ n: string }>(
          "SELECT sum(errors) AS n FROM latency_1d WHERE stage = 'total'",
        );
        expect([
          Number(failed?.n),
          events.filter(({ status }) => status === 'error').length,
        ]).toEqual([431, 431]);
        const { totals } = await rig.expectVerified();
        expect(totals).toMatchObject({ consumed: 26_823, aggregated: 26_823, samples: 26_823 });
      }),
  );
});
