import { describe, expect, it } from 'vitest';
import { incidentScope } from '../../../src/detect/incident/incident-scope.ts';
import type { Series } from '../../../src/series/series-window.ts';

function series(model: string, version: string, region: string): Series {
  const absent = { service: '', request_type: '', host: '', tenant: '', cold_start: false };
  return { ...absent, model, version, region };
}
const regions = ['eu', 'us', 'ap'];
const of = (model: string, version: string, where = regions) =>
  where.map((region) => series(model, version, region));
const scopeOf = (
  affected: readonly Series[],
  live: readonly Series[],
  unresolved = affected.length,
) => incidentScope({ affected, unresolved, live });

describe('the reach of an anomaly', () => {
  it('counts series of the affected models, and leaves out other models', () => {
    const live = [...of('ranker', 'v1'), ...of('ads', 'v1')];
    expect(scopeOf(live.slice(0, 2), live, 1)).toEqual({
      ...{ affected: 2, unresolved: 1, total: 3, common: [] },
      values: [
        { dimension: 'region', value: 'eu', affected: 1, total: 1 },
        { dimension: 'region', value: 'us', affected: 1, total: 1 },
      ],
    });
  });

  it('names the version where all series of one and none of the other are affected', () => {
    const live = [...of('ranker', 'v1'), ...of('ranker', 'v2')];
    const scope = scopeOf(live.slice(3), live);
    expect(scope.common).toEqual([{ dimension: 'version', value: 'v2' }]);
    expect(scope.values[0]).toEqual({ dimension: 'version', value: 'v2', affected: 3, total: 3 });
  });

  it('leaves out what two of many have in common by chance', () => {
    const live = [...of('ranker', 'v1'), ...of('ranker', 'v2')];
    expect(scopeOf(live.slice(3, 5), live).common).toEqual([]);
  });

  it('names no version where only one series of another is known: chance chooses these in one of four cases', () => {
    const live = [...of('llm', 'v1'), ...of('llm', 'v2', ['eu'])];
    expect(scopeOf(live.slice(0, 3), live).common).toEqual([]);
    const more = [...of('llm', 'v1', ['eu', 'us']), ...of('llm', 'v2', ['eu', 'us'])];
    expect(scopeOf(more.slice(0, 2), more).common).toMatchObject([{ value: 'v1' }]);
  });

  it('names a value that too many share for chance', () => {
    const many = Array.from({ length: 20 }, (_, n) => `region-${n}`);
    const live = [...of('ranker', 'v1', many), ...of('ranker', 'v2', many)];
    // Ten of twenty, all of v2: by chance in one of 4,600 cases. Three: in one of nine.
    expect(scopeOf(live.slice(20, 30), live).common).toMatchObject([{ value: 'v2' }]);
    expect(scopeOf(live.slice(20, 23), live).common).toEqual([]);
  });

  it('names a region where one of its five series is unaffected', () => {
    const inEu = ['a', 'b', 'c', 'd', 'e'].map((type) => ({
      ...series('ranker', 'v1', 'eu'),
      request_type: type,
    }));
    const live = [...inEu, ...inEu.map((each) => ({ ...each, region: 'us' }))];
    expect(scopeOf(inEu.slice(0, 4), live).common).toEqual([{ dimension: 'region', value: 'eu' }]);
    expect(scopeOf(inEu.slice(0, 3), live).common).toEqual([]);
  });

  it('counts a series that has lost its traffic as one of all', () => {
    const gone = series('ranker', 'v1', 'sa');
    expect(scopeOf([gone, ...of('ranker', 'v1')], of('ranker', 'v1')).total).toBe(4);
  });

  it('lists five values of a dimension at most, those with most series first', () => {
    const many = Array.from({ length: 9 }, (_, n) => `region-${n}`);
    const live = [...of('ranker', 'v1', many), ...of('ranker', 'v2', many)];
    const { values } = scopeOf([...live.slice(0, 9), series('ranker', 'v2', 'region-7')], live);
    const listed = values.filter(({ dimension }) => dimension === 'region');
    expect(listed.map(({ value, affected }) => `${value} ${affected}`)).toEqual([
      ...['region-7 2', 'region-0 1', 'region-1 1', 'region-2 1', 'region-3 1'],
    ]);
  });

  it('names an own dimension that affected series alone have, also where others have none', () => {
    const own = (list: readonly Series[], attributes: string) =>
      list.map((each) => ({ ...each, attributes }));
    const live = [
      ...own(of('llm', 'v1'), 'adapter=lora-7,pool=a'),
      ...own(of('llm', 'v1'), 'adapter=lora-8,pool=a'),
      ...of('llm', 'v1'),
    ];
    const { common, values } = scopeOf(live.slice(0, 3), live);
    expect(common).toEqual([{ dimension: 'attributes.adapter', value: 'lora-7' }]);
    expect(values).toContainEqual({
      ...{ dimension: 'attributes.pool', value: 'a', affected: 3, total: 6 },
    });
  });
});
