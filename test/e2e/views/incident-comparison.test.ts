// Covers src/views/anomalies/incident-times.ts, src/views/anomalies/anomaly-of.ts,
// src/views/comparison/incident-comparison.ts and src/cli/events-by-id.ts.

import { describe, expect, it } from 'vitest';
import { minuteMs } from '../../../src/base/time.ts';
import type { NamedComparison } from '../../../src/compare/comparison.ts';
import type { AnomalyEvent } from '../../../src/contract/anomaly-event.ts';
import { incidentIsOpen } from '../../../src/contract/compared-times.ts';
import { AnomalyStore } from '../../../src/sink/anomalies/anomaly-store.ts';
import type { AnomalyAnswer } from '../../../src/views/answers/anomalies.ts';
import type { CompareAnswer } from '../../../src/views/answers/compare.ts';
import { useStack } from '../../containers/stack.ts';
import { anomalyFixture } from '../../contract/anomaly-fixture.ts';
import { withRig } from '../kit/with-rig.ts';
import { store, trafficOf } from './view-traffic.ts';

const stack = useStack();
const minutes = 30;

const iso = (ms: number) => new Date(ms).toISOString();

describe('an incident against the time before it', () => {
  it('is compared by its own test, outside of other incidents, from the first stored minute on', () =>
    withRig({ stack, name: 'incident-comparison' }, async (rig) => {
      const fromMs = Math.floor(Date.now() / minuteMs - minutes - 5) * minuteMs;
      const at = (after: number) => fromMs + Math.round(after * minuteMs);
      const part = (from: number, to: number, queueFactor: number) =>
        trafficOf({
          ...{ name: `part ${from}`, model: 'ranker', version: 'v1', queueFactor },
          ...{ fromMs: at(from), requests: 200 * (to - from), minutes: to - from },
        });
      // Slow in its minutes 10 to 14 and 17 to 21.
      const parts = [part(0, 10, 1), part(10, 14, 4), part(14, 17, 1), part(17, 21, 4)];
      await store(rig, [...parts.flat(), ...part(21, minutes, 1)]);

      const anomalies = new AnomalyStore(rig.client);
      const add = async (id: string, [from, to]: readonly [number, number], changed = {}) => {
        const [started_at, ended_at] = [iso(at(from)), iso(at(to))];
        const { evidence } = anomalyFixture();
        const event = anomalyFixture({
          ...{ id: id.repeat(32), revision: 2, state: 'resolved', resolution: 'recovered' },
          ...{ started_at, detected_at: started_at, emitted_at: ended_at },
          ...{ ended_at, resolved_at: ended_at, region: '', request_type: '' },
          // Blocks of a baseline begin at round times: here four minutes before there was anything.
          evidence: { ...evidence, baseline_from: iso(at(-4)), baseline_to: iso(at(from - 0.5)) },
          ...changed,
        });
        await anomalies.add(event);
        return event.id;
      };
      const first = await add('a', [10.2, 14]);
      const second = await add('b', [16.2, 21], { region: 'eu-west-1' });
      await add('c', [4, 10], { region: 'us-east-1' });
      const rate: AnomalyEvent['rate'] = {
        ...{ unit: 'failures per request', observed: 0.2, baseline: 0.01, ratio: 20 },
        interval: [0.1, 0.3],
      };
      const { evidence } = anomalyFixture();
      // The windows of its first minutes were learnt before they were found to be of it.
      const learnt = { ...evidence, baseline_from: iso(at(-4)), baseline_to: iso(at(5)) };
      const failures = await add('d', [3, 6], { kind: 'error_rate', rate, evidence: learnt });

      const { url } = await rig.start(['serve']);
      const ask = async <Answer>(path: string) => {
        const response = await fetch(`${url}${path}`);
        expect([path, response.status]).toEqual([path, 200]);
        return (await response.json()) as Answer;
      };
      const pageOf = (id: string) => ask<AnomalyAnswer>(`/v1/anomalies/${id}`);
      const span = (from: number, to: number) => ({ from: iso(at(from)), to: iso(at(to)) });

      // What was before is what is stored, and ends where the anomaly begins.
      const baseline = `baseline: ${clock(at(0))} to ${clock(at(9.7))}`;
      const page = await pageOf(first);
      expect(page.dashboard.before).toEqual(span(0, 9.7));
      expect(page.evidence.at(-1)).toBe(baseline);
      expect((await rig.cli(['explain', first])).out).toContain(baseline);
      expect((await pageOf(failures)).dashboard).toMatchObject({
        before: span(0, 3),
        compared: { a: span(0, 3), b: span(3, 6) },
      });

      // Two minutes lie between both incidents of these requests, too few: A lies before the first one.
      const { compared, requests } = (await pageOf(second)).dashboard;
      expect(compared).toEqual({ a: span(6, 10), b: span(17, 21) });
      const sides = {
        ...{ 'a.from': compared?.a.from ?? '', 'a.to': compared?.a.to ?? '' },
        ...{ 'b.from': compared?.b.from ?? '', 'b.to': compared?.b.to ?? '' },
      };
      const compare = (of: Readonly<Record<string, string>>) => {
        const { region, start } = requests;
        return ask<CompareAnswer>(
          `/v1/compare?${new URLSearchParams({ model: 'ranker', region, start, ...of })}`,
        );
      };
      const answer = await compare({ ...sides, incident: second });
      const a_is = 'the nearest time before it that is in no other incident of these requests';
      expect(answer).toMatchObject({
        incident: { id: second, is_open: false, a_is },
        ...{ verdict: 'fail', missing_requests: 0 },
        title: expect.stringMatching(
          /^B is slower, by the test of the incident; B against A, as measured: p50 \(\+\d+ %\), p95 \(\+\d+ %\), p99 \(\+\d+ %\)$/,
        ),
        reason: expect.stringMatching(
          /^B is slower, by the test of the incident: 140 of 1,200 requests were slower than the slowest 1 % of normal, 121 ms; 12 were expected; baseline: /,
        ),
      });
      // One answer: neither says that it is open, or asks for more.
      expect(`${answer.title} ${answer.reason}`).not.toMatch(/too short|leave|neither|worse|needs/);
      const { exitCode, out, err } = await rig.cli(['compare', '--incident', 'bbbb', '--json']);
      const printed = JSON.parse(out) as NamedComparison;
      expect({ exitCode, err, ...printed }).toMatchObject({
        ...{ exitCode: 2, err: '', verdict: 'fail', model: 'ranker' },
        ...{ reason: answer.reason, incident: answer.incident },
        requests: { candidate: answer.b.requests, baseline: answer.a.requests },
      });
      const ofEnded = (await rig.cli(['compare', '--incident', 'bbbb'])).out;
      expect(ofEnded).toContain(`A is ${a_is}.\n`);
      expect(ofEnded).not.toContain(incidentIsOpen);

      // Its end is now: asked again, the numbers are of a minute more.
      const open = await add('f', [25.5, 26], {
        ...{ state: 'updated', resolution: null, ended_at: null, resolved_at: null },
      });
      expect((await rig.cli(['compare', '--incident', open])).out).toContain(
        `A is the longest time before it that is stored and in no other incident of these requests.\n${incidentIsOpen}\n`,
      );

      // Requests of two adapters are never the same; of all adapters they are.
      await add('5', [0, 3], { attributes: 'adapter=x' });
      const ofAdapter = await add('6', [3, 6], { attributes: 'adapter=y' });
      expect((await pageOf(ofAdapter)).dashboard.compared).toEqual({
        a: span(0, 3),
        b: span(3, 6),
      });
      const taker = await add('7', [0, 5]);
      expect(await rig.cli(['compare', '--incident', ofAdapter])).toMatchObject({
        exitCode: 64,
        err: expect.stringContaining(
          `Cannot compare the incident ${ofAdapter}: it has no time before it outside the incident ${taker}`,
        ),
      });

      // The test of the incident says nothing of other times.
      const [b, a] = [compared?.a, compared?.b];
      const swapped = {
        ...{ 'a.from': a?.from ?? '', 'a.to': a?.to ?? '' },
        ...{ 'b.from': b?.from ?? '', 'b.to': b?.to ?? '' },
      };
      const plain = await compare({ ...swapped, incident: second });
      expect(plain.incident).toBeNull();
      expect(plain.title).toMatch(/too short for a release verdict$/);
      // One of another model is as unknown as one that is not there.
      const problemOf = async (incident: string) => {
        const query = new URLSearchParams({ model: 'ranker', ...sides, incident });
        const response = await fetch(`${url}/v1/compare?${query}`);
        return [response.status, ((await response.json()) as { detail: string }).detail];
      };
      const ofOther = await add('9', [16.2, 21], { model: 'search' });
      for (const id of ['e', ofOther]) {
        expect(await problemOf(id)).toEqual([404, `No anomaly of ranker has the id "${id}".`]);
      }
      expect(await rig.cli(['compare', '--incident', 'e'])).toMatchObject({
        exitCode: 1,
        err: expect.stringContaining('Cannot compare the anomaly: no id begins with "e"'),
      });
    }));
});

const clock = (ms: number) => `${iso(ms).slice(0, 10)} ${iso(ms).slice(11, 19)}Z`;
