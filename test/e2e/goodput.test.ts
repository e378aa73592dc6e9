import { describe, expect, it } from 'vitest';
import { minuteMs } from '../../src/base/time.ts';
import { objectiveRow } from '../../src/config/slos.ts';
import { objectivesOf } from '../../src/contract/objectives/objective.ts';
import { resolutions } from '../../src/sink/windows/read-tails.ts';
import type { GoodputRow } from '../../src/views/answers/goodput.ts';
import { SeededRandom } from '../base/seeded-random.ts';
import { useStack } from '../containers/stack.ts';
import { readWindows } from '../sink/windows/read-windows.ts';
import { countedOf, type GoodputRequest, goodputRequests } from '../window/goodput-requests.ts';
import { answerOf, numbersIn, pastedRows } from './dashboard/asked-api.ts';
import { packed } from './kit/packed.ts';
import { poll } from './kit/poll.ts';
import type { Rig } from './kit/rig.ts';
import { withRig } from './kit/with-rig.ts';

const stack = useStack();
/** Twenty whole minutes, some time ago. */
const fromMs = Math.floor(Date.now() / minuteMs - 30) * minuteMs;
const toMs = fromMs + 20 * minuteMs;
const inRange = { from: fromMs, to: toMs, start: 'all' };

const chat = { first_token: '500ms', time_per_output_token: '50ms', total: '10s' };
const slos = [
  { name: 'chat', match: { model: 'c*' }, all: chat, objective: 0.9 },
  { name: 'eu', match: { region: 'eu-*', tenant: 'a' }, all: chat, objective: 0.99, window: '7d' },
  { name: 'queue', all: { queue: '40ms', total: '2s' }, objective: 0.5 },
];
const settings = {
  WINDOWS_IDLE_PARTITION: '1s',
  WINDOWS_DIMENSIONS: 'model,version,region,tenant,cold_start',
};
const settingsOf = (given: readonly object[]) => ({ DETECT_SLOS: JSON.stringify(given) });

async function ingest(rig: Rig, requests: readonly object[], config = rig.config): Promise<void> {
  const before = await rig.consumed();
  await rig.publish(packed(requests));
  const pipeline = await rig.start(['ingest'], config);
  await rig.untilConsumed(before + requests.length);
  await pipeline.stop();
}

/** Counts of each objective in a table, summed over all series and windows of its row. */
async function storedIn(rig: Rig, table: string): Promise<Record<string, readonly number[]>> {
  const rows = await rig.rows<{ stage: string; requests: string; missed: number }>(
    `SELECT stage, sum(t.requests) AS requests, sum(sum_ms) AS missed FROM {table:Identifier} AS t
     WHERE startsWith(stage, 'objective: ') GROUP BY stage`,
    { table },
  );
  return Object.fromEntries(
    rows.map(({ stage, requests, missed }) => [stage, [Number(requests), missed]]),
  );
}

describe('joint objectives', () => {
  it('have exact counts in every table, on the page, in comparisons and for the detector', () =>
    withRig(
      { stack, name: 'goodput', settings: { ...settings, ...settingsOf(slos) } },
      async (rig) => {
        const stepMs = (20 * minuteMs) / 6_000;
        const requests = goodputRequests(new SeededRandom(11), 6_000, {
          fromMs: fromMs + 1_000,
          stepMs,
        }).map((request, n) => ({ ...request, version: n % 3 === 0 ? 'v1' : 'v2' }));
        const endsMs = (each: GoodputRequest) => each.ts + (each.total_ms ?? 0);
        const sent = requests
          .toSorted((a, b) => endsMs(a) - endsMs(b))
          .filter((each) => endsMs(each) < toMs);
        const last = { ts: toMs + minuteMs, model: 'later', total_ms: 1 };
        await ingest(rig, [...sent, last]);

        const objectives = objectivesOf(rig.config.detect.slos);
        const [ofChat, ofEu, ofQueue] = objectives.map(({ match, thresholds }) => ({
          match,
          thresholds,
        }));
        const counted = [...sent, last];
        const rows = new Map([
          [
            objectiveRow(ofChat!.thresholds),
            countedOf(counted, ofChat!.thresholds, [ofChat!.match, ofEu!.match]),
          ],
          [
            objectiveRow(ofQueue!.thresholds),
            countedOf(counted, ofQueue!.thresholds, [ofQueue!.match]),
          ],
        ]);
        const expected = Object.fromEntries(
          [...rows].map(([row, counts]) => [row, [counts.requests, counts.missed]]),
        );
        for (const resolution of resolutions) {
          expect([resolution, await storedIn(rig, `latency_${resolution}`)]).toEqual([
            resolution,
            expected,
          ]);
        }

        const { url } = await rig.start(['serve']);
        await poll('windows that are complete', async () => {
          const { windows } = await answerOf(url, '/v1/tails', { ...inRange, model: 'chat' });
          return windows.open === 0 || undefined;
        });
        for (const filters of [{}, { region: 'eu-1' }, { version: 'v2' }, { start: 'cold' }]) {
          for (const model of ['chat', 'code', 'embed']) {
            const asked = sent.filter(
              (each) =>
                each.model === model &&
                (!('region' in filters) || each.region === filters.region) &&
                (!('version' in filters) || each.version === filters.version) &&
                (!('start' in filters) || each.cold_start === true),
            );
            const answer = await answerOf<GoodputRow>(url, '/v1/goodput', {
              ...inRange,
              model,
              ...filters,
            });
            const due = objectives
              .filter(({ name }) => name !== 'chat' || model.startsWith('c'))
              .map(({ name, match, thresholds }) => ({
                name,
                ...countedOf(asked, thresholds, [match]),
              }));
            expect(
              answer.rows.map(({ name, requests, missed }) => ({ name, requests, missed })),
            ).toEqual(due);
            const pasted = await pastedRows(rig, answer.sql);
            const sorted = (all: (number | null)[][]) =>
              all.toSorted((a, b) => (a[0] ?? 0) - (b[0] ?? 0));
            expect(sorted(pasted.map((row) => numbersIn(row, ['requests', 'missed'])))).toEqual(
              sorted(due.map((row) => [row.requests, row.missed])),
            );
          }
        }

        // No list of stages has them.
        const { rows: stages } = await answerOf<{ by: string }>(url, '/v1/tails', {
          ...inRange,
          model: 'chat',
          by: 'stage',
        });
        expect(stages.map(({ by }) => by)).toContain('time_per_output_token');
        expect(JSON.stringify(stages)).not.toContain('objective');
        const tails = await rig.cli(['tails', '--since', '1h', '--json']);
        expect(tails.out).toContain('first_token');
        expect(tails.out).not.toContain('objective');

        // The detector's windows have the same counts, apart from the stages.
        const windows = await readWindows(rig.client, {
          fromMs,
          toMs: toMs + 2 * minuteMs,
          windowMs: 10_000,
        });
        const read: Record<string, number[]> = {};
        for (const { objectives: own, stages: of } of windows) {
          expect([...of.keys()].filter((stage) => stage.startsWith('objective'))).toEqual([]);
          for (const [row, { requests, bad }] of own ?? []) {
            const [all = 0, missed = 0] = read[row] ?? [];
            read[row] = [all + requests, missed + bad];
          }
        }
        expect(read).toEqual(expected);

        const compared = await rig.cli([
          ...['compare', '--model', 'chat', '--a', 'v1', '--b', 'v2', '--json'],
          ...['--since', new Date(fromMs).toISOString(), '--until', new Date(toMs).toISOString()],
        ]);
        const { goodput } = JSON.parse(compared.out) as {
          goodput: { name: string; a: GoodputRow; b: GoodputRow }[];
        };
        const side = (version: string) => {
          const own = sent.filter(
            (each) => each.model === 'chat' && each.version === version && !each.cold_start,
          );
          return countedOf(own, ofChat!.thresholds, [ofChat!.match]);
        };
        expect(goodput.map(({ name }) => name)).toEqual(['chat', 'eu', 'queue']);
        expect(goodput[0]).toMatchObject({ a: side('v1'), b: side('v2') });
      },
    ));

  it('count from the change of a threshold on, and say since when', () =>
    withRig({ stack, name: 'goodput-changed', settings }, async (rig) => {
      const of = (all: object) => {
        const config = structuredClone(rig.config);
        config.detect.slos = [
          { name: 'all', all: all as Record<string, number>, objective: 0.9, window: '30d' },
        ];
        return config;
      };
      const requests = (minute: number, total_ms: number) =>
        Array.from({ length: 30 }, (_, n) => ({
          ...{ ts: fromMs + minute * minuteMs + n * 1_000, model: 'chat', total_ms },
        }));
      await ingest(rig, requests(0, 300), of({ total: 200 }));
      await ingest(rig, [...requests(5, 100), ...requests(6, 300)], of({ total: 250 }));
      const answered = async (all: object) => {
        const { url, stop } = await rig.start(['serve'], of(all));
        const { rows } = await answerOf<GoodputRow>(url, '/v1/goodput', {
          ...inRange,
          model: 'chat',
        });
        await stop();
        return rows.map(({ requests, missed, goodput, counted_from }) => [
          requests,
          missed,
          goodput,
          counted_from,
        ]);
      };
      expect(await answered({ total: 250 })).toEqual([
        [60, 30, 0.5, new Date(fromMs + 5 * minuteMs).toISOString()],
      ]);
      expect(await answered({ total: 200 })).toEqual([[30, 30, 0, null]]);
      expect(await answered({ total: 1 })).toEqual([[0, 0, null, null]]);
    }));
});
