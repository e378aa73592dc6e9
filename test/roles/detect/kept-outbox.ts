import type { Outbox } from '../../../src/alert/outbox/outbox.ts';
import type { AnomalyEvent } from '../../../src/contract/anomaly-event.ts';
import type { FakeTables } from './fake-tables.ts';

/**
 * An outbox whose one receiver accepts all at once. Like the real one it begins with what is stored and was
 * not delivered, and ignores what it knows.
 */
export function keptOutbox(
  tables: FakeTables,
  deliver: (event: AnomalyEvent) => void,
): Pick<Outbox, 'start' | 'add' | 'drained' | 'stop' | 'notes'> {
  const nameOf = ({ id, revision }: AnomalyEvent) => `${id} ${revision}`;
  const add = (event: AnomalyEvent) => {
    if (tables.delivered.has(nameOf(event))) return;
    tables.delivered.add(nameOf(event));
    deliver(event);
  };
  return {
    async start() {
      for (const event of tables.events) if (event.incident_id === undefined) add(event);
    },
    add,
    drained: async () => 0,
    stop: async () => undefined,
    notes: () => [],
  };
}
