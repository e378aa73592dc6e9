import { expect, it } from 'vitest';
import { AnomalyStore } from '../../src/sink/anomalies/anomaly-store.ts';
import { useStack } from '../containers/stack.ts';
import { anomalyFixture } from '../contract/anomaly-fixture.ts';
import { withRig } from './kit/with-rig.ts';

const stack = useStack();

it('keeps an event that is added twice once, and adds one again whose rows are gone', () =>
  withRig({ stack, name: 'anomaly-store' }, async (rig) => {
    const { client } = rig;
    const store = new AnomalyStore(client);
    const event = anomalyFixture({ state: 'opened' });
    const stored = () => rig.rows('SELECT id, revision FROM anomalies FINAL');
    await store.add(event);
    await store.add(event);
    expect(await stored()).toEqual([{ id: event.id, revision: event.revision }]);
    // As after a server that was killed with the insert's token stored and its rows not.
    await client.command({
      query: 'DELETE FROM anomalies WHERE 1',
      clickhouse_settings: { lightweight_deletes_sync: '2' },
    });
    expect(await stored()).toEqual([]);
    await store.add(event);
    expect(await stored()).toEqual([{ id: event.id, revision: event.revision }]);
  }));
