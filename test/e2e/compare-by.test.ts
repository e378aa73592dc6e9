import { expect, it } from 'vitest';
import { minuteMs } from '../../src/base/time.ts';
import { Random } from '../../src/generate/random.ts';
import { useStack } from '../containers/stack.ts';
import { packed } from './kit/packed.ts';
import { withRig } from './kit/with-rig.ts';

const stack = useStack();
const minutes = 20;
const fromMs = Math.floor(Date.now() / minuteMs - 40) * minuteMs;
const settings = {
  WINDOWS_IDLE_PARTITION: '1s',
  WINDOWS_DIMENSIONS: 'model,version,region,attributes.adapter,cold_start',
  WINDOWS_FACETS: 'host,attributes.gpu',
};

/** Requests of both versions by adapter; of one adapter the new version is twice as slow, and of one there is no old. */
const kinds = [
  { adapter: 'even', factor: 1, versions: ['v1', 'v2'] },
  { adapter: 'lora,2', factor: 2, versions: ['v1', 'v2'] },
  { adapter: undefined, factor: 1, versions: ['v1', 'v2'] },
  { adapter: 'new', factor: 1, versions: ['v2'] },
] as const;
const requests = kinds
  .flatMap(({ adapter, factor, versions }) =>
    versions.flatMap((version) => {
      const random = new Random(`compare by ${adapter} ${version}`);
      return Array.from({ length: minutes * 200 }, (_, n) => ({
        ts: fromMs + Math.floor(((n + 0.5) * minuteMs) / 200),
        ...{ model: 'llm', version },
        ...(adapter !== undefined && { attributes: { adapter, gpu: 'h100' } }),
        total_ms: random.lognormal(40, 0.3) * (version === 'v2' ? factor : 1),
      }));
    }),
  )
  .toSorted((a, b) => a.ts - b.ts);

it('compares each value of a dimension, and fails where one does, by the bound of one comparison', () =>
  withRig({ stack, name: 'compare-by', settings }, async (rig) => {
    const last = { ts: fromMs + (minutes + 1) * minuteMs, model: 'other', total_ms: 1 };
    await rig.publish(packed([...requests, last]));
    const pipeline = await rig.start(['ingest']);
    await rig.untilConsumed(requests.length + 1);
    await pipeline.stop();

    const iso = (ms: number) => new Date(ms).toISOString();
    const toMs = fromMs + minutes * minuteMs;
    const of = ['compare', '--model', 'llm', '--a', 'v1', '--b', 'v2', '--since', iso(fromMs)];
    const flags = [...of, '--until', iso(toMs)];
    const by = [...flags, '--by', 'attributes.adapter'];
    const { exitCode, out, err } = await rig.cli([...by, '--json']);
    expect([exitCode, err]).toEqual([2, '']);
    const all = JSON.parse(out);
    expect(all).toMatchObject({ model: 'llm', by: 'attributes.adapter', verdict: 'fail' });
    expect(all.reason).toMatch(
      /^1 of 3 compared values of attributes\.adapter fails; lora,2: p99 is /,
    );
    const requestsOf = { candidate: minutes * 200, baseline: minutes * 200 };
    expect(
      all.comparisons.map((each: Record<string, unknown>) => [
        each.value,
        each.verdict,
        each.requests,
      ]),
    ).toEqual([
      ['', 'pass', requestsOf],
      ['even', 'pass', requestsOf],
      ['lora,2', 'fail', requestsOf],
    ]);
    expect(all.left_out).toEqual({
      values: [{ value: 'new', requests: { candidate: minutes * 200, baseline: 0 } }],
      more: 0,
    });

    const without = ['--where', 'attributes.adapter='];
    const even = await rig.cli([...by, ...without, '--json', '--require-pass']);
    expect([even.exitCode, JSON.parse(even.out).verdict]).toEqual([0, 'pass']);
    const text = await rig.cli(by);
    expect(text.out).toMatch(/^\(none\) +pass /m);
    expect(text.out).toContain('Not compared: new (4,000 requests of B, 0 of A).\n');

    for (const [name, reason] of [
      [
        'attributes.gpu',
        'windows.dimensions must have attributes.gpu: facets have too little stored',
      ],
      ['attributes.pool', 'Cannot group by attributes.pool as windows.dimensions must have it'],
      ['request_type', 'Cannot group by request_type as windows.dimensions must have it'],
      ['host', 'Allowed choices are region, request_type, attributes.NAME.'],
    ] as const) {
      const refused = await rig.cli([...flags, '--by', name]);
      expect([name, refused.exitCode, refused.err]).toEqual([
        name,
        64,
        expect.stringContaining(reason),
      ]);
    }
    const unknown = await rig.cli([...by, '--where', 'attributes.adapter=od', '--require-pass']);
    expect([unknown.exitCode, unknown.err.split('. ')[0]]).toEqual([
      ...[2, 'No request of model "llm" has the attributes.adapter "od"'],
    ]);
  }));
