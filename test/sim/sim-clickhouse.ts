import { goesTo, originOf } from './decoded-blocks.ts';
import type { PartitionLog } from './partition-log.ts';
import type { SimWorld } from './sim-world.ts';

/** A block of a table. */
export interface StoredBlock {
  readonly token: string;
  readonly bytes: Buffer;
  /** When its sender decided to send it, and when it landed. */
  readonly sentMs: number;
  readonly atMs: number;
  /** It was sent for one table alone. */
  readonly isFill: boolean;
}

/** Fields of a row of `flushes` by which it is found. */
export interface StoredLedgerRow {
  readonly group_id: string;
  readonly topic: string;
  readonly partition: number;
  readonly log_id: string;
  readonly log_mark: number;
  readonly leader_epoch: number;
  readonly start_offset: number;
  readonly end_offset: number;
  readonly first_ms: number;
  readonly last_ms: number;
  readonly watermark_ms: number;
  readonly records: number;
  readonly consumed: number;
  readonly aggregated: number;
  readonly rejected: number;
  readonly late: number;
  readonly overflow: number;
  readonly unmapped: number;
  readonly removed_events: number;
  readonly removed_offsets: number;
  readonly samples: number;
  readonly row_count: number;
  /** When its statement was sent. */
  readonly sent_ms: number;
  readonly flushed_ms: number;
  readonly instance: string;
}

/** Tables that the views behind the landing table fill, the one of landings first. */
export const tableNames = [
  'chunk_landings',
  'latency_10s',
  'latency_1m',
  'latency_1h',
  'latency_1d',
  'drivers_1m',
  'exemplars',
] as const;

/** on: inserts with a token are deduplicated. off: the user's profile says no. old: no such setting is known. */
export type InsertProfile = 'on' | 'off' | 'old';

class Table {
  readonly name: string;
  readonly blocks: StoredBlock[] = [];
  readonly #tokens = new Set<string>();
  readonly #window: number;

  constructor(name: string, window: number) {
    this.name = name;
    this.#window = window;
  }

  /** Adds a block, or drops it where its token is known. One without rows for the table is there once. */
  store(block: StoredBlock, token = block.token): void {
    const isHere = () => this.blocks.some((each) => each.token === block.token);
    if (goesTo(block.bytes, this.name) ? this.#tokens.has(token) : isHere()) return;
    this.blocks.push(block);
    this.remember(token);
  }

  knows(token: string): boolean {
    return this.#tokens.has(token);
  }

  remember(token: string): void {
    if (this.#window === 0) return;
    this.#tokens.add(token);
    if (this.#tokens.size <= this.#window) return;
    const [oldest] = this.#tokens;
    if (oldest !== undefined) this.#tokens.delete(oldest);
  }
}

/** Most deaths of the server with a stored token and no rows, in one chunk and table. */
const MOST_DEATHS = 2;

/** What is read of a database. */
export interface DatabaseView {
  readonly tables: readonly { readonly name: string; readonly blocks: readonly StoredBlock[] }[];
  readonly ledger: readonly StoredLedgerRow[];
}

/** A database with the tables of sql/, as far as chunks and their ledger need them. */
export class SimDatabase implements DatabaseView {
  readonly tables: readonly Table[];
  readonly ledger: StoredLedgerRow[] = [];
  /** `non_replicated_deduplication_window` of every table. */
  readonly tokensKept: number;
  readonly #ledgerTokens: Table;
  readonly #looks = new Map<string, number[]>();
  /** Blocks that a table has missed, as `table token`: their insert failed halfway. */
  readonly #missed = new Set<string>();
  /** Concurrent sends by token, and tokens that had two at once. */
  readonly #sending = new Map<string, number>();
  readonly #raced = new Set<string>();
  /** The first block sent under a token, and blocks whose rows came later under another token. */
  readonly #sent = new Map<string, Buffer>();
  readonly changed = new Set<string>();
  readonly #deaths = new Map<string, number>();

  constructor(tokensKept: number) {
    this.tokensKept = tokensKept;
    this.tables = tableNames.map((name) => new Table(name, tokensKept));
    this.#ledgerTokens = new Table('flushes', tokensKept);
  }

  /** What a replica has of it that has come as far as a time. */
  asOf(ms: number): DatabaseView {
    return {
      tables: this.tables.map(({ name, blocks }) => ({
        name,
        blocks: blocks.filter(({ atMs }) => atMs <= ms),
      })),
      ledger: this.ledger.filter(({ flushed_ms }) => flushed_ms <= ms),
    };
  }

  /**
   * Inserts a block into the tables, or into some.
   *
   * @param token by which the block is dropped where it is known.
   */
  insert(
    block: StoredBlock,
    isFilled: (table: number) => boolean = () => true,
    token = block.token,
  ): void {
    const sent = this.#sent.get(block.token);
    if (sent === undefined) this.#sent.set(block.token, block.bytes);
    else if (!sent.equals(block.bytes)) this.changed.add(originOf(block.bytes));
    this.tables.forEach((table, i) => {
      // What has no rows for a table cannot be missing there.
      if (isFilled(i) || !goesTo(block.bytes, table.name)) table.store(block, token);
      else this.#missed.add(`${table.name} ${block.token}`);
    });
  }

  /** Inserts until the server is killed: some tables are filled, one of the others has the token only. */
  insertUntilKilled(block: StoredBlock, isFilled: (table: number) => boolean): void {
    this.insert(block, isFilled);
    // A table without rows of a block stores no token of it either.
    const killed = this.tables.find(
      (table, i) => !isFilled(i) && !table.knows(block.token) && goesTo(block.bytes, table.name),
    );
    killed?.remember(block.token);
  }

  /** Adds a block to one table alone, under its own token. */
  fill(name: string, block: StoredBlock, token: string): void {
    this.tables.find((table) => table.name === name)?.store(block, token);
  }

  /** Fills until the kill: the token is known, the block is missing. */
  fillUntilKilled(name: string, token: string): void {
    if (!this.#mayDie(`${name} ${token.split('/').slice(4).join('/')}`)) return;
    this.tables.find((table) => table.name === name)?.remember(token);
  }

  /** True where the server may die once more in statements of this name: see allowance 6. */
  #mayDie(name: string): boolean {
    const deaths = (this.#deaths.get(name) ?? 0) + 1;
    this.#deaths.set(name, deaths);
    return deaths <= MOST_DEATHS;
  }

  /** Records a look-up of the landed rows of the chunk that starts there. */
  noteLook(origin: string, atMs: number): void {
    this.#looks.set(origin, [...(this.#looks.get(origin) ?? []), atMs]);
  }

  /** Time of the last such look-up, up to a time; -Infinity for never. */
  lookedMs(origin: string, untilMs: number): number {
    const looks = this.#looks.get(origin) ?? [];
    return Math.max(...looks.filter((ms) => ms <= untilMs), Number.NEGATIVE_INFINITY);
  }

  /** True where somebody looked for a chunk while its ledger row was on its way. */
  wasLookedFor(row: StoredLedgerRow): boolean {
    const { group_id, topic, partition, log_mark, start_offset } = row;
    const origin = `${group_id}/${topic}/${partition}/${log_mark}/${start_offset}`;
    return this.lookedMs(origin, row.flushed_ms) > row.sent_ms;
  }

  /** True where a block is the first sent under its token. */
  isFirst({ token, bytes }: StoredBlock): boolean {
    return this.#sent.get(token)?.equals(bytes) === true;
  }

  /** Marks a send under this token; the returned function marks that it has arrived or never will. */
  sends(token: string): () => void {
    const count = (this.#sending.get(token) ?? 0) + 1;
    this.#sending.set(token, count);
    if (count > 1) this.#raced.add(token);
    return () => this.#sending.set(token, (this.#sending.get(token) ?? 0) - 1);
  }

  /** True where a group has stored something of a partition of a cluster. */
  hasPartition(groupId: string, clusterId: string, { topic, partition }: PartitionLog): boolean {
    return this.ledger.some(
      (row) =>
        row.group_id === groupId &&
        row.topic === topic &&
        row.partition === partition &&
        isOfCluster(row, clusterId),
    );
  }

  /** Time at which a group stored its first chunk of a cluster's topic, epoch milliseconds. */
  beganMs(groupId: string, clusterId: string, topic: string): number | undefined {
    const times = this.ledger
      .filter(
        (row) => row.group_id === groupId && row.topic === topic && isOfCluster(row, clusterId),
      )
      .map(({ flushed_ms }) => flushed_ms);
    return times.length === 0 ? undefined : Math.min(...times);
  }

  /** The highest offset of the ledger in a log, of records that it still has. */
  ledgerEndOf(groupId: string, log: PartitionLog): number | undefined {
    const ends = this.ledger
      .filter(
        (row) =>
          row.group_id === groupId &&
          row.partition === log.partition &&
          isOfLog(row, log.logId) &&
          (log.before === undefined ||
            row.leader_epoch >= log.firstEpoch ||
            row.end_offset <= log.before.at),
      )
      .map(({ end_offset }) => end_offset);
    return ends.length === 0 ? undefined : Math.max(...ends);
  }

  isMissed(table: string, token: string): boolean {
    return this.#missed.has(`${table} ${token}`);
  }

  isRaced(token: string): boolean {
    if (this.#raced.has(token)) return true;
    // A chunk that is sent again for one table has a token that ends in its own.
    return [...this.#raced].some((each) => each.startsWith('fill/') && each.endsWith(`/${token}`));
  }

  isLedgerRaced(row: StoredLedgerRow): boolean {
    const { group_id, topic, partition, log_id, start_offset, end_offset, leader_epoch } = row;
    const range = `${start_offset}-${end_offset}@${leader_epoch}`;
    const chunk = `${group_id}/${topic}/${partition}/${log_id}/${range}`;
    return [...this.#raced].some((token) => chunkOfLedgerToken(token) === chunk);
  }

  recordUntilKilled(token: string): void {
    if (this.#mayDie(`flushes ${chunkOfLedgerToken(token)}`)) this.#ledgerTokens.remember(token);
  }

  record(token: string, row: StoredLedgerRow): void {
    if (this.#ledgerTokens.knows(token)) return;
    this.#ledgerTokens.remember(token);
    this.ledger.push(row);
  }
}

/** True where a row is of this log, truncated or not. */
export function isOfLog({ log_id }: StoredLedgerRow, logId: string): boolean {
  return log_id === logId || log_id.startsWith(`${logId}#`);
}

/** True where a row is of a log of this cluster. */
export function isOfCluster({ log_id }: StoredLedgerRow, clusterId: string): boolean {
  return log_id.startsWith(`${clusterId}/`);
}

/** The chunk's token of a ledger row's token, without the number of the attempt; '' for another token. */
function chunkOfLedgerToken(token: string): string {
  return /^ledger\/(?:\d+\/)?(.*)$/.exec(token)?.[1] ?? '';
}

/** A running statement of the server. */
interface Running {
  breakOff(): void;
}

/** The server: databases, and its availability. All of its tables and tokens survive a restart. */
export class SimClickHouse {
  readonly #world: SimWorld;
  readonly #databases = new Map<string, SimDatabase>();
  readonly #running = new Set<Running>();
  readonly #tokensKept: number;
  isUp = true;
  slowUntilMs = 0;
  #stored = 0;
  readonly profile: InsertProfile;
  /** Lag of the replica that its name leads to; undefined while it leads to the server. */
  replicaLagMs: number | undefined;

  constructor(world: SimWorld, tokensKept: number, profile: InsertProfile) {
    this.#world = world;
    this.#tokensKept = tokensKept;
    this.profile = profile;
  }

  /** Token by which an insert is dropped where it is known; one of its own where nothing is. */
  tokenOf(token: string, isDeduplicated: boolean): string {
    return isDeduplicated ? token : `${token}#${this.#stored++}`;
  }

  database(name: string): SimDatabase {
    let database = this.#databases.get(name);
    if (database === undefined) {
      database = new SimDatabase(this.#tokensKept);
      this.#databases.set(name, database);
    }
    return database;
  }

  /** The server's wall clock, epoch milliseconds. */
  get wallMs(): number {
    return this.#world.epochMs + Math.floor(this.#world.scheduler.nowMs);
  }

  /** Draws the time from a statement's arrival to its end. */
  workMs(): number {
    const { scheduler, random } = this.#world;
    const slowMs = scheduler.nowMs < this.slowUntilMs ? 1_000 + random.unit() * 6_000 : 0;
    return 2 + random.unit() * 25 + slowMs;
  }

  begin(statement: Running): void {
    this.#running.add(statement);
  }

  end(statement: Running): void {
    this.#running.delete(statement);
  }

  /** Fails running statements; returns after a while. */
  goAway(awayMs: number): void {
    this.isUp = false;
    this.#world.trace?.('clickhouse', `away for ${Math.round(awayMs)} ms`);
    for (const statement of [...this.#running]) statement.breakOff();
    this.#running.clear();
    this.#world.scheduler.at(awayMs, undefined, () => {
      this.isUp = true;
    });
  }
}
