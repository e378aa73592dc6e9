import { describe, expect, it } from 'vitest';
import { dedupKeyOf } from '../../../src/contract/anomaly-identity.ts';
import { emittedIds } from '../../../src/sink/anomalies/emitted-ids.ts';

const series = { service: '', model: 'a', version: '', request_type: '', region: '', host: '' };
const of = { ...series, tenant: '', cold_start: false };
const key = dedupKeyOf('tail_shift', of);
const own = (id: string, startedMs: number, dedup_key = key) => {
  return { id, dedup_key, started_at: new Date(startedMs).toISOString() };
};

describe('emittedIds', () => {
  it('contain those of the same id', () => {
    const emitted = [{ id: 'x', dedup_key: 'of something else', resolved_ms: '5' }];
    expect([...emittedIds([own('x', 1_000), own('y', 1_000)], emitted)]).toEqual(['x']);
  });

  it('contain those of the same kind and series that started before the emitted one ended', () => {
    const emitted = [
      { id: 'x', dedup_key: key, resolved_ms: '4000' },
      { id: 'w', dedup_key: key, resolved_ms: '2000' },
    ];
    expect([...emittedIds([own('before', 3_999), own('after', 4_000)], emitted)]).toEqual([
      'before',
    ]);
    const others = [
      own('kind', 1_000, dedupKeyOf('error_rate', of)),
      own('series', 1_000, dedupKeyOf('tail_shift', { ...of, region: 'eu' })),
    ];
    expect([...emittedIds(others, emitted)]).toEqual([]);
  });

  it('contain those of open anomalies, and of the second page of a series', () => {
    const emitted = [{ id: 'x', dedup_key: `${key}.2`, resolved_ms: '0' }];
    expect([...emittedIds([own('y', 9_000)], emitted)]).toEqual(['y']);
  });
});
