import type { ClickHouseClient } from '@clickhouse/client';
import {
  type AnomalyEvent,
  anomalyEventSchema,
  type Severity,
  severities,
} from '../../contract/anomaly-event.ts';
import { addedSettings } from '../client/insert-settings.ts';
import { readRows } from '../client/read-query.ts';

/** A row of the table `deliveries`. */
export interface DeliveryRow {
  readonly receiver: string;
  readonly id: string;
  readonly revision: number;
  readonly attempt: number;
  readonly outcome: string;
  readonly form: string;
  readonly state: AnomalyEvent['state'];
  readonly severity: Severity;
  readonly answer: string;
  readonly memory: string;
  /** True where the receiver may have something of the anomaly by then, whether or not a row says so. */
  readonly mayHaveArrived: boolean;
  readonly atMs: number;
}

/** An event, and when it was stored, by ClickHouse's clock. */
export interface StoredEvent {
  readonly event: AnomalyEvent;
  readonly writtenMs: number;
}

/** Deliveries of an anomaly to a receiver. */
export interface Settled {
  readonly receiver: string;
  readonly id: string;
  /** Last revision that was accepted, refused, expired or skipped; 0 for none. */
  readonly settledRevision: number;
  /** True where the receiver may have something of it, whether or not a row says so. */
  readonly mayHaveArrived: boolean;
  /** Undefined where no revision was accepted. */
  readonly accepted:
    | {
        readonly state: AnomalyEvent['state'];
        /** Highest severity that was accepted. */
        readonly severity: Severity;
        readonly memory: string;
        readonly atMs: number;
      }
    | undefined;
}

/** All that an outbox needs to go on where its predecessor stopped. */
export interface OutboxState {
  /** Events of each anomaly, in order. */
  readonly events: readonly StoredEvent[];
  readonly settled: readonly Settled[];
  /** Time at which each receiver was first configured, by ClickHouse's clock. */
  readonly sinceMs: ReadonlyMap<string, number>;
}

type SettledRow = Record<
  | 'receiver'
  | 'id'
  | 'settled_revision'
  | 'accepted_revision'
  | 'accepted_state'
  | 'accepted_memory'
  | 'accepted_ms',
  string
> & { readonly accepted_severities: readonly Severity[]; readonly may_have_arrived: boolean };

/** Status of the delivery of a revision to a receiver. */
export interface DeliveryStatus {
  readonly id: string;
  readonly receiver: string;
  readonly revision: number;
  readonly state: string;
  /** Outcome of the last attempt, or why there is none. */
  readonly outcome: string;
  readonly answer: string;
  readonly attempts: number;
  readonly at_ms: number;
}

/** A delivery that was given up. */
export interface GivenUp {
  readonly receiver: string;
  readonly id: string;
  readonly revision: number;
  readonly outcome: 'refused' | 'expired';
  readonly answer: string;
  readonly atMs: number;
}

/** Statuses read at once. */
const statusLimit = 10_000;

/** Stores which events were delivered to whom. */
export class DeliveryStore {
  readonly #client: ClickHouseClient;

  constructor(client: ClickHouseClient) {
    this.#client = client;
  }

  /** Adds rows in one block. A row that is added twice changes nothing that is read. */
  async add(rows: readonly DeliveryRow[]): Promise<void> {
    const values = rows.map(({ atMs, mayHaveArrived, ...row }) => {
      return { ...row, may_have_arrived: mayHaveArrived, at: new Date(atMs).toISOString() };
    });
    await this.#insert('deliveries', values);
  }

  /**
   * Registers new receivers, and reads what may be due at all of them.
   *
   * @param sinceMs anomalies that were over before then are left out.
   */
  async load(receivers: readonly string[], sinceMs: number): Promise<OutboxState> {
    const known = await this.#receivers(receivers);
    const unknown = receivers.filter((receiver) => !known.has(receiver));
    if (unknown.length > 0) {
      await this.#insert(
        'receivers',
        unknown.map((receiver) => ({ receiver })),
      );
    }
    return this.peek(receivers, sinceMs);
  }

  /** Reads the same, and registers nobody: a receiver that no process has run with has no time in `sinceMs`. */
  async peek(receivers: readonly string[], sinceMs: number): Promise<OutboxState> {
    const [events, settled, since] = await Promise.all([
      readRows<{ body: string; written_ms: string }>(this.#client, 'outbox_events', { sinceMs }),
      readRows<SettledRow>(this.#client, 'outbox_settled', { receivers, sinceMs }),
      this.#receivers(receivers),
    ]);
    return {
      events: events.map(({ body, written_ms }) => ({
        event: anomalyEventSchema.parse(JSON.parse(body)),
        writtenMs: Number(written_ms),
      })),
      settled: settled.map(settledOf),
      sinceMs: since,
    };
  }

  /** Status of the deliveries of these anomalies, by anomaly and time. */
  async statusOf(ids: readonly string[]): Promise<DeliveryStatus[]> {
    if (ids.length === 0) return [];
    const rows = await readRows<
      Record<'id' | 'receiver' | 'state' | 'last_outcome' | 'last_answer', string> &
        Record<'revision' | 'attempts' | 'last_ms', string>
    >(this.#client, 'deliveries', { ids, limit: statusLimit });
    return rows.map(({ id, receiver, state, last_outcome, last_answer, ...numbers }) => ({
      id,
      receiver,
      revision: Number(numbers.revision),
      state,
      outcome: last_outcome,
      answer: last_answer,
      attempts: Number(numbers.attempts),
      at_ms: Number(numbers.last_ms),
    }));
  }

  /** First failures since the last acceptance, by receiver, of those that have accepted nothing since. */
  async outages(receivers: readonly string[], sinceMs: number): Promise<Map<string, number>> {
    const rows = await readRows<{ receiver: string; failed_since_ms: string }>(
      this.#client,
      'receiver_outages',
      { receivers, sinceMs: Math.round(sinceMs) },
    );
    return new Map(
      rows.map(({ receiver, failed_since_ms }) => [receiver, Number(failed_since_ms)]),
    );
  }

  /** Deliveries that were given up since a time, the latest first. */
  async givenUp(receivers: readonly string[], sinceMs: number, limit: number): Promise<GivenUp[]> {
    const rows = await readRows<
      Omit<GivenUp, 'revision' | 'atMs'> & Record<'revision' | 'at_ms', string>
    >(this.#client, 'given_up_deliveries', { receivers, sinceMs: Math.round(sinceMs), limit });
    return rows.map(({ revision, at_ms, ...rest }) => {
      return { ...rest, revision: Number(revision), atMs: Number(at_ms) };
    });
  }

  /** Ids with this start that a receiver has accepted. */
  async acceptedIds(receiver: string, start: string): Promise<ReadonlySet<string>> {
    const rows = await readRows<{ id: string }>(this.#client, 'accepted_ids', { receiver, start });
    return new Set(rows.map(({ id }) => id));
  }

  async #receivers(receivers: readonly string[]): Promise<Map<string, number>> {
    const rows = await readRows<{ receiver: string; since_ms: string }>(
      this.#client,
      'outbox_receivers',
      { receivers },
    );
    return new Map(rows.map(({ receiver, since_ms }) => [receiver, Number(since_ms)]));
  }

  async #insert(table: string, values: readonly object[]): Promise<void> {
    await this.#client.insert({
      table,
      values,
      format: 'JSONEachRow',
      clickhouse_settings: { ...addedSettings(), date_time_input_format: 'best_effort' },
    });
  }
}

function settledOf(row: SettledRow): Settled {
  const { receiver, id, may_have_arrived: mayHaveArrived } = row;
  const settledRevision = Number(row.settled_revision);
  if (Number(row.accepted_revision) === 0) {
    return { receiver, id, settledRevision, mayHaveArrived, accepted: undefined };
  }
  const highest = severities.findLast((each) => row.accepted_severities.includes(each)) ?? 'info';
  const accepted = {
    state: row.accepted_state as AnomalyEvent['state'],
    severity: highest,
    memory: row.accepted_memory,
    atMs: Number(row.accepted_ms),
  };
  return { receiver, id, settledRevision, mayHaveArrived, accepted };
}
