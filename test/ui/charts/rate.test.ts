import { describe, expect, it } from 'vitest';
import { affectedSeries } from '../../../src/views/anomalies/affected-series.ts';
import { rateLineOf } from '../../../ui/src/charts/geometry/rate.ts';
import { splitOpen } from '../../../ui/src/charts/geometry/step-grid.ts';
import { rateSentence } from '../../../ui/src/charts/rate-text.ts';
import { rateBaseline, rateTable } from '../../../ui/src/views/incident/incident-rate.ts';
import { seriesRows, seriesTable } from '../../../ui/src/views/incident/series-rows.ts';
import { anomalyFixture } from '../../contract/anomaly-fixture.ts';
import { plain } from '../plain.ts';
import { tailRow } from './tail-row.ts';

const at = (minute: number) => new Date(Date.UTC(2026, 10, 25, 10, minute)).toISOString();
const range = { from: at(0), to: at(6), step_seconds: 60 };
const windows = { final: 5, provisional: 0, open: 1 };
const row = (minute: number, requests: number, failed: number) =>
  tailRow({ at: at(minute), state: minute === 5 ? 'open' : 'final', requests, failed });
const rows = [row(0, 500, 1), row(1, 500, 240), row(3, 40, 20), row(4, 600, 0), row(5, 30, 0)];
const rate = (observed: number, baseline: number) => ({
  unit: 'failures per request' as const,
  ...{ observed, baseline, ratio: observed / baseline },
  interval: [observed, observed] as [number, number],
});

describe('a rate over time', () => {
  const failed = rateLineOf({ rows, range, windows }, 'failed', 0.002);

  it('is the failed part of each step, a gap without requests, hollow of few', () => {
    expect(failed.values).toEqual([0.002, 0.48, null, 0.5, 0, 0]);
    expect(failed.thin).toEqual([false, false, false, true, false, true]);
    expect(failed.notStored).toBeNull();
    expect(splitOpen(failed.values, failed.states)).toEqual({
      closed: [0.002, 0.48, null, 0.5, 0, null],
      open: [null, null, null, null, 0, 0],
    });
    expect(failed.most).toBeCloseTo(0.54);
  });

  it('says the share, its requests, the baseline, and why it is hollow', () => {
    const said = (step: number) => plain(rateSentence(failed, step, true));
    expect(said(1)).toBe('25 Nov 10:01 to 10:02: 48 % failed, 240 of 500 requests; baseline 0.2 %');
    expect(said(2)).toBe('25 Nov 10:02 to 10:03: no requests');
    expect(said(3)).toContain('20 of 40 requests; few requests: a share needs 100');
    expect(said(4)).toContain('0 % failed, 0 of 600 requests');
    expect(said(5)).toMatch(/; open$/);
  });

  it('counts requests per second: none is 0, and an open step is not complete', () => {
    const line = rateLineOf({ rows, range, windows }, 'per_second', 9);
    expect(line.values).toEqual([500 / 60, 500 / 60, 0, 40 / 60, 10, null]);
    expect(line.thin).not.toContain(true);
    expect(plain(rateSentence(line, 4, true))).toBe(
      '25 Nov 10:04 to 10:05: 10/s, 600 requests; baseline 9/s',
    );
    expect(rateSentence(line, 5, true)).toContain('30 requests so far; open');
  });

  it('counts cold starts among all requests', () => {
    const cold = [row(0, 50, 0), row(4, 6, 0)];
    const line = rateLineOf({ rows, range, windows }, 'cold', null, cold);
    expect(line.values).toEqual([0.1, 0, null, 0, 0.01, 0]);
  });

  it('says of which time nothing is stored yet', () => {
    const line = rateLineOf({ rows: rows.slice(0, 4), range, windows }, 'failed', 0);
    expect(line.notStored).toEqual({ fromMs: Date.parse(at(5)), toMs: Date.parse(at(6)) });
    expect(rateSentence(line, 5, true)).toContain('not stored yet');
  });

  it('has an axis where nothing failed', () => {
    expect(rateLineOf({ rows: [row(0, 9, 0)], range, windows }, 'failed', 0).most).toBe(0.01);
  });

  it('is a table of counts and shares', () => {
    const answer = { rows, range, windows, left_out: { rows: 0, requests: 0 }, sql: '' };
    const { heads, rows: lines } = rateTable(answer, failed);
    expect(heads).toEqual(['at', 'state', 'requests', 'failed', 'share']);
    expect(lines[1]).toEqual([at(1), 'final', 500, 240, 0.48]);
    expect(lines[2]).toEqual([at(3), 'final', 40, 20, 0.5]);
  });
});

describe('the rate of an incident', () => {
  const answer = (changed: Parameters<typeof anomalyFixture>[0]) => {
    const event = anomalyFixture(changed);
    return { event, series: [...affectedSeries(event, []).listed] };
  };

  it('is what a table of its series shows, in its own unit', () => {
    const [shown] = seriesRows(answer({ kind: 'error_rate', rate: rate(0.48, 0.002) }));
    expect(shown).toMatchObject({
      ...{ name: 'ranker, search, eu-west-1', measured: 'failed' },
      ...{ observed: 0.48, baseline: 0.002 },
    });
    expect(plain(shown?.format(0.48) ?? '')).toBe('48 %');
    expect(shown?.ratio).toBeCloseTo(240);
    const table = seriesTable(shown === undefined ? [] : [shown]);
    expect(table.heads).toContain('unit');
    expect(table.rows[0]).toContain('failures per request');
  });

  it('is each member’s own, and not known of an older event; latency stays in ms', () => {
    const { id, stage, severity, observed_ms, baseline_ms, ratio, ...series } = anomalyFixture();
    const { service, model, version, request_type, region, host, tenant, cold_start } = series;
    const member = {
      ...{ id, stage, severity, observed_ms, baseline_ms, ratio, service, model, version },
      ...{ request_type, region, host, tenant, cold_start },
      ...{ started_at: series.started_at, resolved_at: null },
    };
    const members = [{ ...member, rate: rate(0.3, 0.01) }, member];
    const of = seriesRows(answer({ kind: 'error_rate', rate: rate(0.4, 0.01), members }));
    expect(of.map(({ observed, unit }) => [observed, unit])).toEqual([
      [0.3, 'failures per request'],
      [null, 'failures per request'],
    ]);
    expect(of[1]?.format(null)).toBe('–');
    const [slow] = seriesRows(answer({}));
    const measured = { blame: 'features', measured: 'p99 of total' };
    expect(slow).toMatchObject({ ...measured, unit: 'ms', observed: 412 });
    const { evidence } = anomalyFixture();
    const ofStage = answer({ evidence: { ...evidence, measured_stage: 'features' } });
    expect(seriesRows(ofStage)[0]).toMatchObject({ measured: 'p99 of features' });
    expect(seriesTable(slow === undefined ? [] : [slow]).heads).toContain('observed, ms');
  });

  it('has no series where tailmark itself is anomalous, and a name where all traffic is', () => {
    const whole = { model: '', request_type: '', region: '' };
    expect(seriesRows(answer({ kind: 'pipeline', ...whole }))).toEqual([]);
    const perSecond = { ...rate(0, 51), unit: 'requests per second' as const };
    const [all] = seriesRows(answer({ kind: 'no_data', ...whole, rate: perSecond }));
    expect(all?.name).toBe('all models');
    expect(all?.format(51)).toBe('51/s');
  });

  it('has a baseline where the steps compare with it', () => {
    const scope = { affected: 2, unresolved: 2, total: 9, common: [], values: [] };
    const perSecond = { ...rate(0, 51), unit: 'requests per second' as const };
    expect(rateBaseline({ rate: rate(0.4, 0.01) })).toEqual({ value: 0.01, name: 'baseline' });
    const [worst] = answer({ rate: rate(0.2, 0.05) }).series;
    const members = worst === undefined ? [] : [worst];
    expect(rateBaseline({ rate: rate(0.4, 0.01), scope, members })).toEqual({
      ...{ value: 0.05, name: 'baseline of the most affected series' },
    });
    expect(rateBaseline({ rate: perSecond, scope })).toBeNull();
    expect(rateBaseline({})).toBeNull();
  });
});
