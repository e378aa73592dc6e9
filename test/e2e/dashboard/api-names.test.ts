import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { TailRow } from '../../../src/views/answers/tails.ts';
import type { VersionRow } from '../../../src/views/answers/versions.ts';
import { useStack } from '../../containers/stack.ts';
import { Rig } from '../kit/rig.ts';
import { answerOf, askApi } from './asked-api.ts';
import { seedDashboard } from './kit/seeded-dashboard.ts';

const stack = useStack();
let rig: Rig;
let url: string | undefined;
const ranker = { model: 'ranker', from: '-1h' };

beforeAll(async () => {
  rig = await Rig.open({ stack, name: 'api-names' });
  await seedDashboard(rig);
  url = (await rig.start(['ingest', 'serve'])).url;
}, 240_000);
afterAll(() => rig?.close());

describe('a name that the model has never had', () => {
  it.each([
    ['/v1/tails', { version: 'v9' }, 'has the version "v9". Known versions: v1, v2.'],
    ['/v1/density', { region: 'eu-west' }, 'has the region "eu-west". Known regions: eu-west-1'],
    ['/v1/tails', { stage: 'queu' }, 'has the stage "queu". Known stages: queue, '],
    ['/v1/composition', { request_type: 'serch' }, 'has the request type "serch". Known request'],
    ['/v1/requests', { version: 'v12' }, 'has the version "v12". Known versions: v1, v2.'],
  ])('is named in the answer beside those that it has: %s %j', async (path, names, sentence) => {
    const answer: object = await answerOf(url, path, { ...ranker, ...names });
    expect(answer).toMatchObject({
      unknown: expect.stringContaining(`No request of model "ranker" ${sentence}`),
    });
  });

  it('compares nothing', async () => {
    const asked = { ...ranker, 'a.version': 'v1', 'b.version': 'v9' };
    const { status, text } = await askApi(url, '/v1/compare', asked);
    expect(status).toBe(200);
    expect(JSON.parse(text)).toMatchObject({
      verdict: 'inconclusive',
      reason: 'No request of model "ranker" has the version "v9". Known versions: v1, v2.',
    });
  });

  it('is none that it had at another time', async () => {
    const answer = await answerOf<TailRow>(url, '/v1/tails', {
      ...{ model: 'ranker', version: 'v1', by: 'stage' },
      ...{ from: '1970-01-01T00:00:00Z', to: '1970-02-01T00:00:00Z' },
    });
    expect(answer.rows).toEqual([]);
    expect(answer).not.toHaveProperty('unknown');
  });
});

describe('versions', () => {
  it('are those with requests in the range, the newest first, and since when there is each', async () => {
    const { rows } = await answerOf<VersionRow>(url, '/v1/versions', ranker);
    expect(rows.map(({ version, is_live }) => [version, is_live])).toEqual([
      ['v2', true],
      ['v1', true],
    ]);
    const [v2, v1] = rows;
    // Of a version from before the range to the hour; of one that came in it to the minute.
    expect(Date.parse(v1?.first_seen ?? '')).toBeLessThan(
      Date.parse(v2?.first_seen ?? '') - 22 * 3_600_000,
    );
    expect(rows.map(({ requests }) => requests)).toEqual([6_000, 6_300]);
    const all = await answerOf<VersionRow>(url, '/v1/versions', { from: '-1h' });
    expect(new Set(all.rows.map(({ model }) => model)).size).toBe(3);
  });
});
