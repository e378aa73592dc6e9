import { Readable } from 'node:stream';
import type { ClickHouseClient } from '@clickhouse/client';
import type { AnomalyEvent } from '../../../src/contract/anomaly-event.ts';
import { seriesKey } from '../../../src/series/series-key.ts';
import type { SeriesWindow } from '../../../src/series/series-window.ts';
import { RowBinaryReader } from '../../../src/sink/row-binary/row-binary-reader.ts';
import { RowBinaryWriter } from '../../../src/sink/row-binary/row-binary-writer.ts';
import { scenarioStartMs } from '../../scenarios/scenario-windows.ts';
import { encodeWindows } from '../../sink/windows/encode-windows.ts';

type Row = Readonly<Record<string, unknown>>;

/** A row of `anomalies`. */
export interface StoredEvent {
  readonly event: AnomalyEvent;
  readonly windowStartMs: number;
}

/** Stops a killed process: its calls do nothing any more. */
export class Killed extends Error {}

interface StoredPart {
  readonly slot: number;
  readonly name: string;
  readonly snapshot: string;
  readonly state: Buffer;
}

/** ClickHouse as the evaluator uses it: windows, progress, and tables to insert into. */
export class FakeTables {
  watermarkMs = 0;
  /** The clock; a second behind the watermark unless set. */
  clockMs: number | undefined;
  /** Time at which the last chunk was stored; its watermark unless set. */
  flushedMs: number | undefined;
  /** Requests of the model in each ten minutes of eight days before. */
  baselineRequests = 0;
  evaluatedUntilMs: number | undefined;
  /** Tables into which inserts fail. */
  readonly away = new Set<string>();
  /** Result of reading facets; undefined where that fails. */
  facets: readonly Row[] | undefined = [];
  readonly stored: StoredEvent[] = [];
  /** Names of delivered events, which outlive a process like rows of `deliveries`. */
  readonly delivered = new Set<string>();
  /** Parts of a slot replace each other, as merges do it. */
  readonly parts = new Map<string, StoredPart>();
  readonly snapshots: Row[] = [];
  /** Reported number of stages of each window. */
  windowSize = 1;
  /** Start of each piece of windows that was read. */
  readonly readFromMs: number[] = [];
  #windows: readonly SeriesWindow[];
  #hook: { readonly atCall: number; readonly action: () => void } | undefined;
  #kill: { calls: number; readonly isDone: boolean } | undefined;

  constructor(stored: readonly SeriesWindow[]) {
    this.#windows = stored;
  }

  /** Adds requests to windows: these replace the same windows of the same series. */
  arrive(windows: readonly SeriesWindow[]): void {
    const nameOf = ({ series, windowStartMs }: SeriesWindow) =>
      `${windowStartMs} ${seriesKey(series)}`;
    const byName = new Map([...this.#windows, ...windows].map((each) => [nameOf(each), each]));
    this.#windows = [...byName.values()].sort((a, b) => a.windowStartMs - b.windowStartMs);
  }

  get events(): AnomalyEvent[] {
    return this.stored.map(({ event }) => event);
  }

  readonly client = {
    query: ({ query, query_params }: { readonly query: string; query_params?: Row }) =>
      this.#call(async () => {
        const rows = this.#rows(query, query_params ?? {});
        return { json: async () => rows };
      }),
    exec: (given: {
      readonly query: string;
      readonly query_params?: Record<string, number | string>;
      readonly values?: Readable;
    }) =>
      this.#call(async () => {
        const bytes =
          given.values === undefined
            ? this.#rowBinary(given.query, given.query_params ?? {})
            : await this.#insertParts(given.values);
        return { stream: Readable.from(bytes.length === 0 ? [] : [bytes]) };
      }),
    insert: (given: { readonly table: string; readonly values: readonly Row[] }) =>
      this.#call(async () => {
        if (this.away.has(given.table)) throw new Error(`${given.table}: connection reset`);
        for (const row of given.values) this.#insert(given.table, row);
      }),
  } as unknown as ClickHouseClient;

  /** Number of calls, and of calls that store an event. */
  calls = 0;
  readonly storingCalls: number[] = [];

  /** Kills the caller of the n-th call from now, with the call done or not. */
  killAt(calls: number, isDone: boolean): void {
    this.#kill = { calls, isDone };
  }

  /** Runs an action at the n-th call from now, before its response. */
  onCall(calls: number, action: () => void): void {
    this.#hook = { atCall: this.calls + calls, action };
  }

  /** Makes the n-th call from now fail, and none after it. */
  failAt(calls: number): void {
    this.onCall(calls, () => {
      throw new Error('connection reset');
    });
  }

  async #call<T>(work: () => Promise<T>): Promise<T> {
    this.calls++;
    if (this.calls === this.#hook?.atCall) this.#hook.action();
    if (this.#kill === undefined) return work();
    this.#kill.calls--;
    if (this.#kill.calls > 0) return work();
    if (this.#kill.calls === 0 && this.#kill.isDone) await work();
    throw new Killed();
  }

  #insert(table: string, row: Row): void {
    if (table === 'anomalies') {
      this.storingCalls.push(this.calls);
      const windowStartMs = Date.parse(String(row.window_start));
      this.stored.push({ event: JSON.parse(String(row.body)), windowStartMs });
    }
    if (table === 'detector_progress') this.evaluatedUntilMs = Number(row.judged_until) * 1000;
    if (table === 'detector_snapshots') this.snapshots.unshift(row);
  }

  async #insertParts(values: Readable): Promise<Buffer> {
    if (this.away.has('detector_state')) throw new Error('detector_state: connection reset');
    const reader = new RowBinaryReader(Buffer.concat(await values.toArray()));
    while (!reader.atEnd) {
      reader.string();
      const slot = reader.uint8();
      const name = reader.string();
      const snapshot = reader.string();
      reader.uint64();
      reader.uint64();
      const state = Buffer.from(reader.readBytes(reader.varUint()));
      this.parts.set(`${slot} ${name}`, { slot, name, snapshot, state });
    }
    return Buffer.alloc(0);
  }

  #rowBinary(query: string, params: Readonly<Record<string, number | string>>): Buffer {
    if (query.includes('FROM detector_state')) {
      const writer = new RowBinaryWriter();
      for (const { name, slot, snapshot, state } of this.parts.values()) {
        if (slot !== params.slot || snapshot !== params.snapshot) continue;
        if (params.part !== undefined && name !== params.part) continue;
        if (params.part === undefined) writer.string(name);
        writer.utf8(state);
      }
      return writer.copy();
    }
    // No hourly tails are stored.
    if (params.rankedFromSeconds !== undefined) return Buffer.alloc(0);
    const { fromSeconds = 0, toSeconds = 0 } = params;
    if (params.windowSeconds !== undefined) this.readFromMs.push(Number(fromSeconds) * 1000);
    const found = this.#windows.filter(({ windowStartMs }) => {
      return (
        windowStartMs >= Number(fromSeconds) * 1000 && windowStartMs < Number(toSeconds) * 1000
      );
    });
    return encodeWindows(found);
  }

  #rows(query: string, params: Row): readonly Row[] {
    if (query.includes('max(watermark)')) {
      const flushed_ms = this.flushedMs ?? this.watermarkMs;
      const row = {
        topic: 't',
        partition: 0,
        watermark_ms: this.watermarkMs,
        flushed_ms,
        newest_window_ms: this.watermarkMs,
        end_offset: 1,
      };
      return this.watermarkMs === 0 ? [] : [row];
    }
    if (query.includes('first_seconds')) return this.#firstWindow(params);
    if (query.includes('start_seconds')) return this.#windowRequests(params);
    if (query.includes('stage_requests')) return this.#traffic(params);
    if (query.includes('FROM detector_progress')) {
      const found = this.evaluatedUntilMs === undefined ? 0 : 1;
      return [{ ms: this.evaluatedUntilMs ?? 0, found }];
    }
    if (query.includes('AS stages')) {
      const starts = params.starts as readonly number[];
      return starts.map((start) => ({ start, stages: this.windowSize }));
    }
    if (query.includes('FROM detector_state')) {
      const found = [...this.parts.values()].filter(({ slot, snapshot }) => {
        return slot === params.slot && snapshot === params.snapshot;
      });
      return [{ parts: found.length }];
    }
    if (query.includes('FROM detector_snapshots')) {
      const rows = this.snapshots.filter(({ as_of }) => Number(as_of) <= Number(params.untilMs));
      return rows.slice(0, 2).map((row) => ({ ...row, as_of_ms: row.as_of }));
    }
    if (query.includes('FROM drivers_1m')) {
      if (this.facets === undefined) throw new Error('Memory limit exceeded');
      return this.facets;
    }
    if (query.includes("model = {model:String} AND stage = 'total'")) {
      const bands = { now_bands: { 0: 90, 10: 10 }, baseline_bands: { 0: 98, 10: 2 } };
      return this.#windows.slice(0, 1).map(({ series }) => ({ ...series, ...bands }));
    }
    if (query.includes('trace_id')) return [{ trace_id: 'trace-1' }, { trace_id: '' }];
    return this.#anomalies(query, params);
  }

  /** Tables of longer windows begin with the range. */
  #firstWindow({ table, fromSeconds, toSeconds }: Row): readonly Row[] {
    if (table !== 'latency_10s') return [{ first_seconds: fromSeconds }];
    const first = this.#windows
      .map(({ windowStartMs }) => windowStartMs / 1000)
      .find((seconds) => seconds >= Number(fromSeconds) && seconds < Number(toSeconds));
    return first === undefined ? [] : [{ first_seconds: first }];
  }

  #traffic({ fromSeconds, toSeconds }: Row): readonly Row[] {
    const first = scenarioStartMs / 1000 - 8 * 86_400;
    const blocks = this.baselineRequests === 0 ? 0 : 8 * 144;
    const rows = Array.from({ length: blocks }, (_, n) => {
      return { model: 'a', at_seconds: first + n * 600, requests: this.baselineRequests };
    });
    return rows.filter(({ at_seconds: at }) => at >= Number(fromSeconds) && at < Number(toSeconds));
  }

  #windowRequests({ fromSeconds, toSeconds }: Row): readonly Row[] {
    const requests = new Map<number, number>();
    for (const window of this.#windows) {
      const seconds = window.windowStartMs / 1000;
      if (seconds < Number(fromSeconds) || seconds >= Number(toSeconds)) continue;
      const whole = window.stages.get('total')?.requests ?? 0;
      requests.set(seconds, (requests.get(seconds) ?? 0) + whole);
    }
    return [...requests].map(([start_seconds, sum]) => ({ start_seconds, requests: sum }));
  }

  /** Answers queries of the table of anomalies. */
  #anomalies(query: string, params: Row): readonly Row[] {
    const bodies = (events: readonly AnomalyEvent[]) =>
      events.map((event) => ({ body: JSON.stringify(event) }));
    if (query.includes('max(window_start)')) {
      const ms = Math.max(0, ...this.stored.map(({ windowStartMs }) => windowStartMs));
      return [{ ms, found: this.stored.length }];
    }
    if (query.includes('{revision:UInt32}')) {
      const { id, revision } = params;
      return bodies(this.events.filter((one) => one.id === id && one.revision === revision));
    }
    if (query.includes('resolved_ms')) {
      const last = new Map(this.stored.map((one) => [one.event.id, one]));
      return [...last.values()].map(({ event: { id, dedup_key, state }, windowStartMs }) => {
        return { id, dedup_key, resolved_ms: state === 'resolved' ? windowStartMs : 0 };
      });
    }
    const before = this.stored.filter((one) => one.windowStartMs < Number(params.beforeMs));
    const last = new Map(before.map(({ event }) => [event.id, event]));
    const isOpen = (id: string) => last.get(id)?.state !== 'resolved';
    return bodies([...last.values()].filter(({ id, incident_id }) => isOpen(incident_id ?? id)));
  }
}
