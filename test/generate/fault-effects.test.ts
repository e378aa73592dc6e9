// Covers src/generate/default-fleet.ts, src/generate/fault.ts, src/generate/host-pool.ts,
// src/generate/model-profile.ts, src/generate/request-draw.ts and src/generate/request-stream.ts.

import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { minuteMs } from '../../src/base/time.ts';
import { defaultFleet } from '../../src/generate/default-fleet.ts';
import { releasedVersion } from '../../src/generate/fault.ts';
import { parseFault } from '../../src/generate/parse-fault.ts';
import type { TimingEventJson } from '../../src/generate/timing-event-json.ts';
import { generateTraffic, type TrafficOptions } from '../../src/generate/traffic.ts';

const START_MS = Date.UTC(2026, 10, 2, 9);

function traffic(options: Partial<TrafficOptions>, ...faults: string[]): TimingEventJson[] {
  return [
    ...generateTraffic({
      seed: 11,
      startMs: START_MS,
      durationMs: 5 * minuteMs,
      ratePerSecond: 100,
      faults: faults.map((fault) => parseFault(fault, defaultFleet)),
      ...options,
    }),
  ];
}

let healthy: TimingEventJson[] = [];
beforeAll(() => {
  healthy = traffic({});
});
// Later files of the worker need the memory.
afterAll(() => {
  healthy = [];
});

const FROM_MS = minuteMs;
const TO_MS = 3 * minuteMs;
const WINDOW = 'from=1m,for=2m';
const inWindow = ({ ts }: TimingEventJson) => ts >= START_MS + FROM_MS && ts < START_MS + TO_MS;
const isWarm = (event: TimingEventJson) => !event.cold_start && event.status !== 'timeout';

/** p99 of a stage over the events that a predicate picks. */
function p99(
  events: readonly TimingEventJson[],
  stage: string,
  pick: (event: TimingEventJson) => boolean,
): number {
  const values = events
    .filter((event) => pick(event) && isWarm(event) && inWindow(event))
    .flatMap(({ stages_ms }) => stages_ms[stage] ?? [])
    .sort((a, b) => a - b);
  return values[Math.floor(0.99 * values.length)] as number;
}

/** The pairs (stage, model) whose durations differ in any event, compared request by request. */
function changed(faulty: readonly TimingEventJson[]): string[] {
  expect(faulty.map(({ id }) => id)).toEqual(healthy.map(({ id }) => id));
  const pairs = new Set<string>();
  for (const [n, event] of faulty.entries()) {
    const before = healthy[n] as TimingEventJson;
    // Beyond the deadline the rest of a request is cut off, whatever made it late.
    if (event.status === 'timeout') continue;
    for (const stage of Object.keys(before.stages_ms)) {
      if (event.stages_ms[stage] !== before.stages_ms[stage]) pairs.add(`${event.model} ${stage}`);
    }
  }
  return [...pairs].sort();
}

function outsideWindow(faulty: readonly TimingEventJson[]): number {
  return faulty.filter(
    (event, n) => !inWindow(event) && event.total_ms !== (healthy[n] as TimingEventJson).total_ms,
  ).length;
}

describe('faults in traffic', () => {
  it('slow_stage multiplies that stage of that model in its time, and changes nothing else', () => {
    const faulty = traffic({}, `slow_stage,stage=features,model=ranker,factor=4,${WINDOW}`);
    expect(changed(faulty)).toEqual(['ranker features']);
    expect(outsideWindow(faulty)).toBe(0);
    const ranker = ({ model }: TimingEventJson) => model === 'ranker';
    const ratio = p99(faulty, 'features', ranker) / p99(healthy, 'features', ranker);
    expect(Math.abs(ratio / 4 - 1)).toBeLessThan(0.001);
  });

  it('slow_stage with a share hits that share and leaves the others exactly alone', () => {
    const faulty = traffic({}, `slow_stage,stage=features,factor=4,share=0.3,${WINDOW}`);
    expect(changed(faulty)).toEqual(['llm features', 'ranker features']);
    let [hit, all] = [0, 0];
    const ratios = new Set<number>();
    for (const [n, event] of faulty.entries()) {
      const now = event.stages_ms.features;
      const before = (healthy[n] as TimingEventJson).stages_ms.features;
      if (!inWindow(event) || now === undefined || before === undefined) continue;
      all++;
      if (now === before) continue;
      hit++;
      if (event.status !== 'timeout') ratios.add(Math.round((now / before) * 100) / 100);
    }
    expect(hit / all).toBeCloseTo(0.3, 1.5);
    expect([...ratios]).toEqual([4]);
  });

  it('timeouts end a share of requests after that time, in the stage named, and leave the others alone', () => {
    const text = `timeouts,stage=postprocess,model=ranker,share=0.2,after=30s,${WINDOW}`;
    const faulty = traffic({}, text);
    const inFault = faulty.filter((event) => event.model === 'ranker' && inWindow(event));
    const hit = inFault.filter(({ total_ms }) => total_ms === 30_000);
    expect(hit.length / inFault.length).toBeCloseTo(0.2, 1.5);
    for (const event of hit) expect(event.status).toBe('timeout');
    const hits = new Set(hit);
    for (const [n, event] of faulty.entries()) {
      const before = healthy[n] as TimingEventJson;
      if (!hits.has(event)) expect(event).toEqual(before);
      else if (before.status === 'ok') {
        // Nothing follows the stage in which it hangs.
        const { postprocess: hung = 0, ...stages } = event.stages_ms;
        expect(before.stages_ms).toMatchObject(stages);
        expect(hung).toBeGreaterThan(before.stages_ms.postprocess as number);
      }
    }
  });

  it('timeouts in a stage that a model lacks hit nothing there', () => {
    const faulty = traffic({}, 'timeouts,stage=features,after=30s,share=1');
    const slow = faulty.filter(({ total_ms }) => total_ms === 30_000);
    expect(new Set(slow.map(({ model }) => model))).not.toContain('embedder');
    expect(slow.length).toBeGreaterThan(100);
  });

  it('slow_stage narrows to version, region, request type and host', () => {
    const where = 'version=2026-11-01,region=eu-west-1,request_type=search,host=ranker-eu-west-1-2';
    const faulty = traffic({}, `slow_stage,stage=parse,factor=10,${where}`);
    const hit = faulty.filter(
      (event, n) => event.stages_ms.parse !== (healthy[n] as TimingEventJson).stages_ms.parse,
    );
    expect(hit.length).toBeGreaterThan(100);
    for (const key of ['version', 'region', 'request_type', 'host'] as const) {
      expect(new Set(hit.map((event) => event[key])).size).toBe(1);
    }
    expect(hit[0]?.host).toBe('ranker-eu-west-1-2');
  });

  it('a ramp grows the factor evenly', () => {
    const faulty = traffic({}, 'slow_stage,stage=egress,factor=3,ramp=4m');
    const factorAt = (minute: number) => {
      const n = faulty.findIndex(({ ts }) => ts >= START_MS + minute * minuteMs);
      const before = healthy[n] as TimingEventJson;
      return (faulty[n]?.stages_ms.egress as number) / (before.stages_ms.egress as number);
    };
    expect(factorAt(1)).toBeCloseTo(1.5, 1);
    expect(factorAt(2)).toBeCloseTo(2, 1);
    expect(factorAt(4.5)).toBeCloseTo(3, 1);
  });

  it('queue builds waiting up in its model, which drains afterwards, and touches no stage else', () => {
    const faulty = traffic({}, `queue,model=ranker,factor=3,${WINDOW}`);
    expect(changed(faulty)).toEqual(['ranker queue']);
    const ranker = ({ model }: TimingEventJson) => model === 'ranker';
    expect(p99(faulty, 'queue', ranker)).toBeGreaterThan(4 * p99(healthy, 'queue', ranker));
    const depth = Math.max(...faulty.filter(inWindow).map(({ queue_depth }) => queue_depth));
    expect(depth).toBeGreaterThan(
      Math.max(...healthy.filter(ranker).map(({ queue_depth }) => queue_depth)),
    );
    const last = (events: readonly TimingEventJson[]) =>
      events.filter((event) => ranker(event) && event.ts >= START_MS + 4 * minuteMs);
    expect(last(faulty).map(({ stages_ms }) => stages_ms.queue)).toEqual(
      last(healthy).map(({ stages_ms }) => stages_ms.queue),
    );
  });

  it('bad_version slows the forward pass of the newest version only', () => {
    const faulty = traffic({}, `bad_version,model=embedder,factor=2,${WINDOW}`);
    expect(changed(faulty)).toEqual(['embedder forward']);
    const of = (version: string) => (event: TimingEventJson) =>
      event.model === 'embedder' && event.version === version;
    const ratio = (version: string) =>
      p99(faulty, 'forward', of(version)) / p99(healthy, 'forward', of(version));
    expect(Math.abs(ratio('2026-11-01') / 2 - 1)).toBeLessThan(0.001);
    expect(ratio('2026-10-15')).toBe(1);
  });

  it('release moves part of the requests to a version that none had before, slower from its first one', () => {
    const faulty = traffic({}, `release,model=embedder,factor=3,share=0.2,${WINDOW}`);
    const isNew = ({ version }: TimingEventJson) => version === releasedVersion;
    const released = faulty.filter(isNew);
    expect(released.every((event) => event.model === 'embedder' && inWindow(event))).toBe(true);
    const asked = faulty.filter((event) => event.model === 'embedder' && inWindow(event));
    expect(released.length / asked.length).toBeCloseTo(0.2, 1);
    const ids = new Set(released.map(({ id }) => id));
    const before = (event: TimingEventJson) => ids.has(event.id);
    expect(p99(faulty, 'forward', isNew) / p99(healthy, 'forward', before)).toBeCloseTo(3, 2);
    expect(p99(faulty, 'features', isNew)).toBe(p99(healthy, 'features', before));
    const others = (event: TimingEventJson) => event.model === 'embedder' && !ids.has(event.id);
    expect(p99(faulty, 'forward', others)).toBe(p99(healthy, 'forward', others));
  });

  it('knock_on lets the slower forward pass hold its slot, so that the queue grows', () => {
    const fault = 'bad_version,model=embedder,version=2026-10-15,factor=3';
    const faulty = traffic({}, `${fault},knock_on=true,${WINDOW}`);
    expect(changed(faulty)).toEqual(['embedder forward', 'embedder queue']);
  });

  it('network slows ingress, downstream and egress of its region', () => {
    const faulty = traffic({}, `network,region=us-east-1,factor=5,${WINDOW}`);
    expect(changed(faulty)).toEqual([
      ...['embedder egress', 'embedder ingress', 'llm downstream', 'llm egress', 'llm ingress'],
      ...['ranker downstream', 'ranker egress', 'ranker ingress'],
    ]);
    const ratio = (stage: string, region: string) => {
      const pick = (event: TimingEventJson) => event.region === region && event.model === 'ranker';
      return p99(faulty, stage, pick) / p99(healthy, stage, pick);
    };
    for (const stage of ['ingress', 'downstream', 'egress']) {
      expect(Math.abs(ratio(stage, 'us-east-1') / 5 - 1)).toBeLessThan(0.001);
      expect(ratio(stage, 'eu-west-1')).toBe(1);
    }
  });

  it('pause stops a host now and then, and lengthens the forward pass of what is on it', () => {
    const faulty = traffic({}, `pause,model=ranker,stop=300ms,every=4s,${WINDOW}`);
    expect(changed(faulty)).toEqual(['ranker forward']);
    const added = faulty.flatMap((event, n) => {
      const before = healthy[n] as TimingEventJson;
      const ms = (event.stages_ms.forward ?? 0) - (before.stages_ms.forward ?? 0);
      return event.model === 'ranker' && inWindow(event) ? [{ ms, event }] : [];
    });
    const hit = added.filter(({ ms, event }) => ms > 0 && isWarm(event));
    // A stop takes 300 of 4,000 ms, and reaches back over the length of a request.
    expect(hit.length / added.length).toBeGreaterThan(300 / 4_000);
    expect(hit.length / added.length).toBeLessThan(420 / 4_000);
    expect(Math.max(...hit.map(({ ms }) => ms))).toBeLessThanOrEqual(600);
    // Who was there when it began waits it out; who came later, only the rest of it.
    const whole = hit.filter(({ ms }) => Math.abs(ms - 300) < 0.01).length;
    expect(whole).toBeGreaterThan(20);
    expect(hit.length - whole).toBeGreaterThan(100);
  });

  it('errors fails a share of the requests', () => {
    const faulty = traffic({}, `errors,model=llm,share=0.25,${WINDOW}`);
    const llm = (events: readonly TimingEventJson[]) =>
      events.filter((event) => event.model === 'llm' && inWindow(event));
    const failed = llm(faulty).filter(({ status }) => status === 'error').length;
    expect(failed / llm(faulty).length).toBeCloseTo(0.25, 1);
    const others = (events: readonly TimingEventJson[]) =>
      events.filter(({ model }) => model !== 'llm').map(({ status }) => status);
    expect(others(faulty)).toEqual(others(healthy));
  });

  it('traffic multiplies the arrivals of its model, down to none', () => {
    const count = (events: readonly TimingEventJson[], model: string) =>
      events.filter((event) => event.model === model && inWindow(event)).length;
    const surge = traffic({}, `traffic,model=embedder,factor=3,${WINDOW}`);
    expect(count(surge, 'embedder') / count(healthy, 'embedder')).toBeCloseTo(3, 0.5);
    expect(count(surge, 'ranker')).toBe(count(healthy, 'ranker'));
    const silence = traffic({}, `traffic,model=embedder,factor=0,${WINDOW}`);
    expect(count(silence, 'embedder')).toBe(0);
    const later = (events: readonly TimingEventJson[]) =>
      events.filter(({ ts }) => ts >= START_MS + 4 * minuteMs).map(({ trace_id }) => trace_id);
    expect(later(silence)).toEqual(later(healthy));
  });

  it('cold_starts, cache_misses and big_requests change what they say', () => {
    const share = (events: readonly TimingEventJson[], is: (e: TimingEventJson) => boolean) => {
      const some = events.filter((event) => event.model === 'ranker' && inWindow(event));
      return some.filter(is).length / some.length;
    };
    const cold = traffic({}, `cold_starts,share=0.4,${WINDOW}`);
    expect(share(cold, (event) => event.cold_start)).toBeCloseTo(0.406, 1.5);
    const misses = traffic({}, `cache_misses,${WINDOW}`);
    expect(share(misses, (event) => event.cache_hit === true)).toBe(0);
    expect(misses.some((event) => !inWindow(event) && event.cache_hit === true)).toBe(true);
    const big = traffic({}, `big_requests,model=ranker,factor=3,share=1,${WINDOW}`);
    const mean = (events: readonly TimingEventJson[]) => {
      const some = events.filter((event) => event.model === 'ranker' && inWindow(event));
      return some.reduce((sum, { batch_size }) => sum + batch_size, 0) / some.length;
    };
    expect(mean(big) / mean(healthy)).toBeGreaterThan(2.5);
    expect(mean(big) / mean(healthy)).toBeLessThanOrEqual(3.05);
  });

  it('multiplies where two hit the same stage', () => {
    const twice = traffic(
      {},
      `slow_stage,stage=egress,factor=2,${WINDOW}`,
      `slow_stage,stage=egress,factor=3,${WINDOW}`,
    );
    const all = () => true;
    expect(p99(twice, 'egress', all) / p99(healthy, 'egress', all)).toBeCloseTo(6, 1);
  });
});
