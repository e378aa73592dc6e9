import { expect, it } from 'vitest';
import { AnomalyStore } from '../../src/sink/anomalies/anomaly-store.ts';
import { useStack } from '../containers/stack.ts';
import { anomalyFixture } from '../contract/anomaly-fixture.ts';
import { poll } from './kit/poll.ts';
import { withRig } from './kit/with-rig.ts';

const stack = useStack();

it('gets 0 while others ask, and 503 where silence may be an outage', () =>
  withRig({ stack, name: 'autoscale' }, async (rig) => {
    const event = (model: string, agoMs: number) => {
      const value = { ts: Date.now() - agoMs, model, stages_ms: { queue: 40, forward: 9 } };
      return { value: JSON.stringify(value) };
    };
    const { url } = await rig.start(['ingest', 'serve']);
    const query = 'model=ranker&stage=queue&q=0.95&objective_ms=50&window_seconds=10';
    /** Asks until the answer contains a text. */
    const untilAnswer = async (
      part: string,
      before: () => Promise<void> = async () => undefined,
    ) => {
      let last = '';
      await poll(
        `an answer with ${part}`,
        async () => {
          await before();
          const response = await fetch(`${url}/v1/autoscale?${query}`);
          last = `${response.status} ${await response.text()}`;
          return last.includes(part) ? true : undefined;
        },
        { seen: () => last },
      );
      return last;
    };
    const othersAsk = () => rig.publish([event('search', 0)]);

    await rig.publish([event('ranker', 300_000)]);
    // On its first day nobody knows when a model has requests.
    const early = await untilAnswer('between a week and a day ago', othersAsk);
    expect(early).toMatch(/^503 /);
    for (const table of ['latency_1h', 'latency_1d']) {
      await rig.client.command({
        query: `INSERT INTO ${table} SELECT * REPLACE (window_start - INTERVAL 2 DAY AS window_start)
                FROM ${table} WHERE model = 'ranker'`,
      });
    }
    await untilAnswer('200 {"value":0,', othersAsk);

    const store = new AnomalyStore(rig.client);
    const silence = { id: 'gone', kind: 'no_data', model: 'ranker', stage: 'total' } as const;
    await store.add(anomalyFixture({ ...silence, state: 'opened' }));
    const expected = await untilAnswer('the detector expects requests of model ranker', othersAsk);
    expect(expected).toMatch(/^503 .*\(anomaly gone\)/);

    await store.add(anomalyFixture({ ...silence, revision: 2, state: 'resolved' }));
    await untilAnswer('200 {"value":0,', othersAsk);
    // Offsets stand still, all is stored, the detector is fresh: and still the producers may be dead.
    const silent = await untilAnswer('no event of any model arrived');
    expect(silent).toMatch(/^503 /);
    for (const table of ['latency_1h', 'latency_1d']) {
      await rig.client.command({
        query: `ALTER TABLE ${table} DELETE WHERE window_start < now() - INTERVAL 36 HOUR`,
        clickhouse_settings: { mutations_sync: '1' },
      });
    }
  }));
