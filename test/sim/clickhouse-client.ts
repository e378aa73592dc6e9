import type { ClickHouseClient } from '@clickhouse/client';
import { clickhouseStatement } from './clickhouse-statement.ts';
import type { Endpoint } from './endpoint.ts';
import type { FaultKind } from './fault-kinds.ts';
import {
  type SimClickHouse,
  type SimDatabase,
  type StoredLedgerRow,
  tableNames,
} from './sim-clickhouse.ts';

/** Statements of a kind, and the faults that hit them. */
interface Statement<T> {
  readonly name: string;
  /** Marks its start; the returned function marks that it has arrived or never will. */
  readonly leaves?: () => () => void;
  readonly faults: {
    readonly lost: FaultKind;
    readonly answerLost?: FaultKind;
    readonly partial?: FaultKind;
    readonly slow?: FaultKind;
    readonly late?: FaultKind;
  };
  run(): T;
  /** Runs a part of it, where it fails halfway. */
  runPartly?(): void;
  /** Runs the part that is left when the server is killed between a token and its rows. */
  runUntilKilled?(): void;
}

const LATE_MS = 30_000;

/** @clickhouse/client of one process, before a simulated server. */
export function simClickHouseClient(
  endpoint: Endpoint,
  server: SimClickHouse,
  databaseName: string,
): ClickHouseClient {
  const database = server.database(databaseName);
  const once = (query: string, settings: Record<string, unknown>) => () =>
    clickhouseStatement.isDeduplicated(query, settings, server.profile);
  const client = {
    async exec(options: {
      query: string;
      query_params?: Record<string, unknown>;
      values: AsyncIterable<Buffer>;
      clickhouse_settings: Record<string, unknown>;
    }) {
      const token = clickhouseStatement.insertToken(options.query, options.clickhouse_settings);
      const parts: Buffer[] = [];
      for await (const part of options.values) parts.push(part);
      // A copy: the server keeps the sent bytes, whatever the sender does with its buffer.
      const bytes = Buffer.concat(parts);
      const isOnce = once(options.query, options.clickhouse_settings);
      const statement = clickhouseStatement.isFill(options.query)
        ? fillStatement(server, database, String(options.query_params?.table), token, bytes, isOnce)
        : insertStatement(endpoint, server, database, token, bytes, isOnce);
      await send(endpoint, server, statement);
      return { stream: nothing() };
    },
    async insert(options: {
      table: string;
      values: readonly Record<string, unknown>[];
      clickhouse_settings: Record<string, unknown>;
    }) {
      if (options.table !== 'flushes') throw new Error(`the simulator has no ${options.table}`);
      const token = String(options.clickhouse_settings.insert_deduplication_token ?? '');
      const [row] = options.values;
      if (row === undefined) return;
      const sentMs = server.wallMs;
      await send(endpoint, server, {
        name: `ledger ${token.split('/').slice(1, 7).join('/')}`,
        faults: {
          lost: 'ledger_lost',
          answerLost: 'ledger_answer_lost',
          slow: 'ledger_slow',
          late: 'ledger_late',
        },
        leaves: () => database.sends(token),
        run: () =>
          database.record(
            server.tokenOf(token, once('INSERT INTO flushes', options.clickhouse_settings)()),
            ledgerRowOf(row, sentMs, server.wallMs),
          ),
        runUntilKilled: () => database.recordUntilKilled(token),
      });
    },
    async query({ query, query_params }: { query: string; query_params: Record<string, unknown> }) {
      const rows = await send(endpoint, server, {
        name: 'look-up',
        faults: { lost: 'lookup_fails' },
        run: () => {
          const { wallMs: nowMs, replicaLagMs, profile } = server;
          const state = { nowMs, replicaLagMs, profile };
          return clickhouseStatement.answer(query, query_params, database, state);
        },
      });
      return { json: async () => rows };
    },
    async close() {},
  };
  return client as unknown as ClickHouseClient;
}

function insertStatement(
  endpoint: Endpoint,
  server: SimClickHouse,
  database: SimDatabase,
  token: string,
  bytes: Buffer,
  isOnce: () => boolean,
): Statement<void> {
  const { random } = endpoint.world;
  const sentMs = server.wallMs;
  const block = () => ({ token, bytes, sentMs, atMs: server.wallMs, isFill: false });
  const someTables = () => tableNames.map(() => random.chance(0.5));
  return {
    name: `insert ${token.split('/').slice(0, 6).join('/')}`,
    faults: {
      lost: 'insert_lost',
      answerLost: 'insert_answer_lost',
      partial: 'insert_partial',
      slow: 'insert_slow',
      late: 'insert_late',
    },
    leaves: () => database.sends(token),
    run: () => database.insert(block(), undefined, server.tokenOf(token, isOnce())),
    runPartly: () => {
      const filled = someTables();
      const isFilled = (table: number) => filled[table] === true;
      database.insert(block(), isFilled, server.tokenOf(token, isOnce()));
    },
    runUntilKilled: () => {
      const filled = someTables();
      database.insertUntilKilled(block(), (table) => filled[table] === true);
    },
  };
}

/** Rows of a chunk again, for one table. */
function fillStatement(
  server: SimClickHouse,
  database: SimDatabase,
  table: string,
  token: string,
  bytes: Buffer,
  isOnce: () => boolean,
): Statement<void> {
  const chunkToken = token.split('/').slice(4).join('/');
  const sentMs = server.wallMs;
  return {
    name: `fill ${table} ${chunkToken.split('/').slice(0, 6).join('/')}`,
    faults: { lost: 'insert_lost', answerLost: 'insert_answer_lost', late: 'insert_late' },
    leaves: () => database.sends(chunkToken),
    run: () => {
      const block = { token: chunkToken, bytes, sentMs, atMs: server.wallMs, isFill: true };
      database.fill(table, block, server.tokenOf(token, isOnce()));
    },
    runUntilKilled: () => database.fillUntilKilled(table, token),
  };
}

/** Sends a statement through the network to the server, and its result back. */
function send<T>(endpoint: Endpoint, server: SimClickHouse, statement: Statement<T>): Promise<T> {
  const { world, owner } = endpoint;
  const { scheduler, faults, random, trace } = world;
  const { name, faults: kinds } = statement;
  return new Promise<T>((resolve, reject) => {
    if (endpoint.isDead) return;
    const death = endpoint.drawDeath();
    if (death === 'before') return endpoint.die();
    let isSettled = false;
    const settle = (delayMs: number, action: () => void) => {
      if (isSettled) return;
      isSettled = true;
      scheduler.at(delayMs, owner, action);
    };
    const fail = (code: string, delayMs = endpoint.latencyMs()) => {
      const error = Object.assign(new Error(`${name}: ${code}`), { code });
      settle(delayMs, () => reject(error));
    };
    const say = (what: string) => trace?.(owner.name, `${name}${what}`);
    const strikes = (kind: FaultKind | undefined) => kind !== undefined && faults.strikes(kind);
    if (strikes(kinds.lost)) {
      say(' (lost)');
      return fail('ECONNRESET', random.unit() * 5_000);
    }
    const arrived = statement.leaves?.() ?? (() => undefined);
    if (strikes(kinds.late)) {
      fail('ECONNRESET', random.unit() * 3_000);
      scheduler.at(LATE_MS * (0.5 + random.unit()), undefined, () => {
        arrived();
        if (!server.isUp) return;
        say(' (late)');
        statement.run();
      });
      return;
    }
    const isPartial = strikes(kinds.partial);
    const isAnswerLost = strikes(kinds.answerLost);
    const slowMs = strikes(kinds.slow) ? 1_000 + random.unit() * 14_000 : 0;
    scheduler.at(endpoint.latencyMs(), undefined, () => {
      if (!server.isUp) {
        arrived();
        return fail('ECONNREFUSED');
      }
      const running = {
        breakOff: () => {
          isOver = true;
          arrived();
          const share = random.unit();
          if (share < 0.3) statement.runPartly?.();
          else if (share < 0.5) statement.run();
          say(' (broken off)');
          fail('ECONNRESET');
        },
      };
      let isOver = false;
      server.begin(running);
      scheduler.at(server.workMs() + slowMs, undefined, () => {
        if (isOver) return;
        server.end(running);
        arrived();
        if (statement.runUntilKilled !== undefined && strikes('token_without_rows')) {
          say(' (killed after its token)');
          statement.runUntilKilled();
          server.goAway(500 + random.unit() * 3_000);
          return death === 'after' ? endpoint.die() : fail('ECONNRESET');
        }
        if (isPartial && statement.runPartly !== undefined) {
          say(' (in part)');
          statement.runPartly();
          return death === 'after' ? endpoint.die() : fail('241');
        }
        let value: T;
        try {
          value = statement.run();
        } catch (error) {
          settle(0, () => reject(error));
          return;
        }
        say(isAnswerLost ? ' (answer lost)' : '');
        if (death === 'after') return endpoint.die();
        if (isAnswerLost) return fail('ECONNRESET', random.unit() * 2_000);
        endpoint.drawStop();
        settle(endpoint.latencyMs(), () => resolve(value));
      });
    });
  });
}

function nothing(): AsyncIterable<Buffer> {
  return {
    [Symbol.asyncIterator]: () => ({ next: async () => ({ done: true, value: undefined }) }),
  };
}

function ledgerRowOf(
  row: Record<string, unknown>,
  sentMs: number,
  flushedMs: number,
): StoredLedgerRow {
  const number = (name: string) => Number(row[name]);
  return {
    group_id: String(row.group_id),
    topic: String(row.topic),
    partition: number('partition'),
    log_id: String(row.log_id),
    log_mark: number('log_mark'),
    leader_epoch: number('leader_epoch'),
    start_offset: number('start_offset'),
    end_offset: number('end_offset'),
    first_ms: number('first_timestamp'),
    last_ms: number('last_timestamp'),
    watermark_ms: number('watermark'),
    records: number('records'),
    consumed: number('consumed'),
    aggregated: number('aggregated'),
    rejected: number('rejected'),
    late: number('late'),
    overflow: number('overflow'),
    unmapped: number('unmapped'),
    removed_events: number('removed_events'),
    removed_offsets: number('removed_offsets'),
    samples: number('samples'),
    row_count: number('row_count'),
    sent_ms: sentMs,
    flushed_ms: flushedMs,
    instance: String(row.instance),
  };
}
