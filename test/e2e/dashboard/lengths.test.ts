// Covers src/views/anomalies/incident-lengths.ts.

import { expect, it } from 'vitest';
import { dayMs, minuteMs } from '../../../src/base/time.ts';
import { formatMsOf } from '../../../src/contract/format.ts';
import { AnomalyStore } from '../../../src/sink/anomalies/anomaly-store.ts';
import { TDigest } from '../../../src/sketch/t-digest.ts';
import type { AnomalyAnswer } from '../../../src/views/answers/anomalies.ts';
import type { LengthsAnswer, TailAtLengths } from '../../../src/views/answers/lengths.ts';
import type { TailsAnswer } from '../../../src/views/answers/tails.ts';
import { useStack } from '../../containers/stack.ts';
import { anomalyFixture } from '../../contract/anomaly-fixture.ts';
import { packed } from '../kit/packed.ts';
import { served, servedEvents, servedMinutes } from '../kit/served-answers.ts';
import { withRig } from '../kit/with-rig.ts';
import { soon, untilDrawn, useBrowserIfThere, widths } from './kit/use-browser.ts';

const stack = useStack();
const browser = useBrowserIfThere();
const iso = (ms: number) => new Date(ms).toISOString();
const lengthMs = servedMinutes * minuteMs;

it('longer answers and slower tokens are distinguished on the pages of model and incident, by the API and explain', () =>
  withRig({ stack, name: 'lengths' }, async (rig) => {
    const startMs = Math.floor(Date.now() / minuteMs - servedMinutes - 5) * minuteMs;
    const of = { version: 'v1', region: 'eu-west-1' };
    // A week ago and just before alike; then answers twice as long, and tokens a fifth slower.
    const sent = [
      ...servedEvents(startMs - 7 * dayMs - lengthMs, of, served('week before', 120, 10)),
      ...servedEvents(startMs - 7 * dayMs, of, served('week', 120, 10)),
      ...servedEvents(startMs - lengthMs, of, served('before', 120, 10)),
      ...servedEvents(startMs, of, served('now', 240, 12)),
    ].toSorted((a, b) => a.ts - b.ts);
    const last = { ts: startMs + lengthMs + minuteMs, model: 'x', stages_ms: { forward: 1 } };
    await rig.publish(packed([...sent, last]));
    const { url } = await rig.start(['ingest', 'serve']);
    await rig.untilConsumed(sent.length + 1);
    const [from, to] = [iso(startMs), iso(startMs + lengthMs)];
    const incident = anomalyFixture({
      ...{ id: 'c'.repeat(32), model: 'chat', ...of, request_type: '', stage: 'decode' },
      ...{ started_at: from, detected_at: from, emitted_at: to, quantile: 0.99, revision: 1 },
      ...{ state: 'resolved', resolution: 'recovered', ended_at: to, resolved_at: to },
    });
    const open = { ...incident, id: 'd'.repeat(32), state: 'opened', resolution: null } as const;
    const anomalies = new AnomalyStore(rig.client);
    await anomalies.add(incident);
    await anomalies.add({ ...open, ended_at: null, resolved_at: null });

    const ask = async <Answer>(path: string, query: Readonly<Record<string, string>> = {}) => {
      const response = await fetch(`${url}${path}?${new URLSearchParams(query)}`);
      expect([path, response.status]).toEqual([path, 200]);
      return (await response.json()) as Answer;
    };
    const asked = { model: 'chat', q: '0.99' };
    const ofRange = (more: Readonly<Record<string, string>> = {}) =>
      ask<LengthsAnswer>('/v1/lengths', { ...asked, from, to, ...more });
    const week = await ofRange();
    expect(week.earlier).toEqual({
      from: iso(startMs - 7 * dayMs),
      to: iso(startMs + lengthMs - 7 * dayMs),
    });
    const { lengths } = await ask<AnomalyAnswer>(`/v1/anomalies/${incident.id}`);
    expect(lengths?.earlier).toEqual({ from: iso(startMs - lengthMs), to: from });
    // All requests are of the region: their lengths are those of the model.
    expect((await ofRange({ region: 'eu-west-1' })).rows).toEqual(week.rows);

    // The slower server with the answers of before, request by request.
    const p99 = (all: ReturnType<typeof served>) =>
      TDigest.fromValues(all.map(({ totalMs }) => totalMs)).quantile(0.99);
    const truth = p99(served('truth', 120, 12));
    const right = (row: TailAtLengths | null | undefined, earlierMs: number, name: string) => {
      const { ms = null, at_lengths_ms = null, earlier_ms = null, text } = row ?? {};
      expect(Math.abs((at_lengths_ms ?? 0) / truth - 1)).toBeLessThan(row?.error ?? 0);
      expect((ms ?? 0) / p99(served('now', 240, 12))).toBeCloseTo(1, 1);
      expect((earlier_ms ?? 0) / earlierMs).toBeCloseTo(1, 1);
      const format = formatMsOf(ms ?? 0);
      expect(text).toBe(
        `p99 of total is ${format(ms ?? 0)}; with answers as long as ${name} it would be ${format(at_lengths_ms ?? 0)} (then it was ${format(earlier_ms ?? 0)}).`,
      );
      return text as string;
    };
    const ofModel = right(week.rows[0], p99(served('week', 120, 10)), 'a week earlier');
    const ofIncident = right(lengths, p99(served('before', 120, 10)), 'before the incident');
    const tails = await ask<TailsAnswer>('/v1/tails', { ...asked, from, to, by: 'stage' });
    expect(tails.rows.find(({ by }) => by === 'total')?.quantiles[0]?.ms).toBe(week.rows[0]?.ms);

    const explained = await rig.cli(['explain', incident.id]);
    expect(explained.out).toContain(`\nTraffic mix\n  ${ofIncident}\n`);
    const { out } = await rig.cli(['explain', incident.id, '--json']);
    expect((JSON.parse(out) as Pick<AnomalyAnswer, 'lengths'>).lengths).toEqual(lengths);

    // Before it answers were as long as a week earlier: nothing is said, and why.
    const same = await ofRange({ from: iso(startMs - lengthMs), to: iso(startMs) });
    const reasonsOf = ({ rows }: LengthsAnswer) => rows.map(({ text, reason }) => [text, reason]);
    expect(reasonsOf(same)).toEqual([[null, 'same_lengths']]);
    const ofWeek = await ofRange({ from: iso(startMs - 7 * dayMs), to: iso(startMs - 6 * dayMs) });
    expect(ofWeek.earlier).toBeNull();
    expect(reasonsOf(ofWeek)).toEqual([[null, 'nothing_earlier']]);
    const other = { model: 'x', from: iso(startMs), to: iso(startMs + lengthMs + 2 * minuteMs) };
    expect(reasonsOf(await ofRange(other))).toEqual([[null, 'no_lengths']]);
    const few = { from, to: iso(startMs + minuteMs), q: '0.5,0.99' };
    expect(reasonsOf(await ofRange(few)).at(-1)).toEqual([null, 'too_few_requests']);

    if (!browser.isThere) return;
    for (const width of widths) {
      const { page, complaints } = await browser.open(url, { viewport: { width, height: 900 } });
      const paths = [
        ['model', `/models/chat?from=${from}&to=${to}`, `${ofModel} Compare both`],
        ['incident', `/incidents/${incident.id}`, ofIncident],
        ['open', `/incidents/${open.id}`, ofIncident],
      ] as const;
      for (const [name, path, text] of paths) {
        await page.goto(path);
        await untilDrawn(page);
        const shown = page.locator('.at-lengths');
        await soon(async () => (await shown.textContent())?.trim()).toBe(text);
        const wider = await page.evaluate<number>(
          'document.documentElement.scrollWidth - document.documentElement.clientWidth',
        );
        expect([name, width, Math.max(0, wider)]).toEqual([name, width, 0]);
        if (process.env.TAILMARK_SCREENSHOTS !== undefined) {
          const file = `${process.env.TAILMARK_SCREENSHOTS}/lengths-${name}-${width}.png`;
          await page.screenshot({ path: file, fullPage: true });
        }
      }
      expect(complaints).toEqual([]);
      await page.context().close();
    }
  }));
