import { describe, expect, it } from 'vitest';
import type { Scope } from '../../../src/contract/anomaly-event.ts';
import { incidentSummary } from '../../../src/detect/incident/incident-summary.ts';

const scope: Scope = { affected: 12, unresolved: 12, total: 14, common: [], values: [] };
const detail = 'p99 of ranker (search) is 412 ms, 3.4x its baseline of 121 ms';
const models = ['ranker'];

describe('the summary of an anomaly over several series', () => {
  it('states how many of all are affected, and how bad the worst is', () => {
    expect(incidentSummary({ state: 'opened', scope, models, detail })).toBe(
      `12 of 14 ranker series affected. Most affected: ${detail}`,
    );
  });

  it('names the common values, models by name, and the number of recovered series', () => {
    const some: Scope = {
      ...{ ...scope, unresolved: 9 },
      common: [
        { dimension: 'version', value: 'v2' },
        { dimension: 'request_type', value: '' },
        { dimension: 'cold_start', value: 'true' },
      ],
    };
    const text = incidentSummary({ state: 'updated', scope: some, models: ['b', 'a'], detail });
    expect(text).toBe(
      '12 of 14 series of a and b affected (all on version v2, without request type, cold starts)' +
        `, 3 recovered. Most affected: ${detail}`,
    );
  });

  it('names three models, and counts the others', () => {
    const many = ['e', 'd', 'c', 'b', 'a'];
    expect(incidentSummary({ state: 'opened', scope, models: many, detail })).toContain(
      'series of a, b, c and 2 more models affected',
    );
  });

  it('at the end states that all are resolved', () => {
    expect(incidentSummary({ state: 'resolved', scope, models, detail: 'back' })).toBe(
      '12 of 14 ranker series were affected, all resolved. Last: back',
    );
  });
});
