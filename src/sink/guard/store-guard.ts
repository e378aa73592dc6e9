import type { Clock } from '../../base/clock.ts';
import { Failure, messageOf } from '../../base/failure.ts';
import { invariant } from '../../base/invariant.ts';
import { type ErrorCode, OperatorError } from '../../base/operator-error.ts';
import type { Logger } from '../../base/telemetry/log.ts';
import { changingServer, type FoundServer, storeIdOf } from './one-server.ts';

/** The database as the guard sees it. */
export interface GuardedDatabase {
  /** Asks on new connections. @throws OperatorError when they lead to several servers. */
  find(connections: number): Promise<FoundServer>;
  /** @throws OperatorError for tables that cannot store exactly once. */
  requireEngines(): Promise<void>;
  /** @throws OperatorError for a user whose inserts are not deduplicated. */
  requireDeduplication(): Promise<void>;
  renewLease(): Promise<void>;
  releaseLease(): Promise<void>;
  /** @throws OperatorError while a migration runs, or when the schema is not that of this version. */
  requireSchema(): Promise<void>;
}

export interface StoreGuardOptions {
  readonly database: GuardedDatabase;
  readonly clock: Clock;
  readonly log: Logger;
  /** Receives the server at each look, which is at least every 15 s while it responds. */
  readonly onServer?: (found: FoundServer) => void;
}

/** Connections that are asked at the start: two servers in turn are missed once in 128 starts. */
export const CONNECTIONS_AT_START = 8;
const CONNECTIONS_LATER = 2;
/** Writes ask which server there is when that is known from earlier than this. */
const KNOWN_MS = 1_000;
const CHECK_MS = 15_000;
/** Writes wait when the last successful check began longer ago. */
const PERMIT_MS = 45_000;
/** A write may begin at the end of a permit and last as long as a request. */
export const leaseSeconds = (requestTimeoutMs: number) =>
  Math.ceil((PERMIT_MS + requestTimeoutMs) / 1000) + 15;

/** Errors that no retry mends. */
const fatalCodes: ReadonlySet<ErrorCode> = new Set<ErrorCode>([
  'TAILMARK_CLICKHOUSE_UNSUPPORTED',
  'TAILMARK_SCHEMA_LOCKED',
  'TAILMARK_SCHEMA_MISSING',
  'TAILMARK_SCHEMA_NEWER',
]);

/**
 * Permits writes of chunks while the server, its tables and its schema are those of the start, and a lease
 * keeps migrations away. It checks at an interval, and before a write where its knowledge is old: the server
 * after a second, the lease after most of its time. So a process that was suspended writes nothing before it
 * knows. A read that decides what is written says itself which server it is of (`requireServer`).
 */
export class StoreGuard {
  readonly #options: StoreGuardOptions;
  readonly #failure = new Failure();
  /** Rejects when chunks can no longer be stored exactly once. */
  readonly failed = this.#failure.promise;
  #identity: string | undefined;
  #fatal: OperatorError | undefined;
  #permittedMs = Number.NEGATIVE_INFINITY;
  #identifiedMs = Number.NEGATIVE_INFINITY;
  #clockAheadMs = 0;
  #checking: Promise<void> | undefined;
  #identifying: Promise<void> | undefined;
  #warned = '';
  #stopTicking: () => void = () => undefined;

  private constructor(options: StoreGuardOptions) {
    this.#options = options;
  }

  /** @throws OperatorError when the database cannot store exactly once, or is being migrated. */
  static async open(options: StoreGuardOptions): Promise<StoreGuard> {
    const guard = new StoreGuard(options);
    const { clock, database } = options;
    // The server is known before and after its tables are looked at: they are of that one.
    await guard.#identify(CONNECTIONS_AT_START);
    await database.requireEngines();
    try {
      await guard.check();
    } catch (error) {
      await database.releaseLease().catch(() => undefined);
      throw error;
    }
    guard.#stopTicking = clock.every(CHECK_MS, () => void guard.check().catch(() => undefined));
    return guard;
  }

  /** Id of the store that was found at the start. */
  get storeId(): string {
    invariant(this.#identity !== undefined, 'a guard is open when its server is known');
    return storeIdOf({ identity: this.#identity });
  }

  get hasFailed(): boolean {
    return this.#fatal !== undefined;
  }

  /** Resolves when a write may begin. @throws what keeps it from it. */
  async permit(): Promise<void> {
    if (this.#fatal !== undefined) throw this.#fatal;
    if (this.#isLapsed()) await this.check();
    else if (this.#options.clock.elapsedMs() - this.#identifiedMs > KNOWN_MS) await this.#ask();
  }

  /** @throws OperatorError where a response is of another server than at the start: no write is permitted any more. */
  requireServer(identity: string): void {
    if (this.#fatal === undefined && identity !== this.#identity) {
      this.#refuse(changingServer(`${identity}, and led to ${this.#identity} at the start`));
    }
    if (this.#fatal !== undefined) throw this.#fatal;
  }

  /** Asks how far the local clock is ahead of the server's; negative when it is behind. */
  async clockAheadMs(): Promise<number> {
    if (this.#fatal !== undefined) throw this.#fatal;
    await this.#identify(1);
    return this.#clockAheadMs;
  }

  /** Checks, once at a time. */
  check(): Promise<void> {
    this.#checking ??= this.#check().finally(() => {
      this.#checking = undefined;
    });
    return this.#checking;
  }

  /** Gives the lease back; call it when nothing is written any more. */
  async close(): Promise<void> {
    this.#stopTicking();
    await this.#checking?.catch(() => undefined);
    await this.#options.database.releaseLease().catch(() => undefined);
  }

  async #check(): Promise<void> {
    if (this.#fatal !== undefined) throw this.#fatal;
    const { clock, database } = this.#options;
    const startedMs = clock.elapsedMs();
    const isLapsed = this.#isLapsed();
    await this.#identify(CONNECTIONS_LATER);
    await this.#noting(async () => {
      await database.requireDeduplication();
      await database.renewLease();
      // While a lease is held no migration begins.
      if (isLapsed) await database.requireSchema();
    });
    this.#permittedMs = startedMs;
    this.#warned = '';
  }

  async #identify(connections: number): Promise<void> {
    const { clock, database, onServer } = this.#options;
    const startedMs = clock.elapsedMs();
    await this.#noting(async () => {
      const found = await database.find(connections);
      this.#identity ??= found.identity;
      this.requireServer(found.identity);
      this.#identifiedMs = startedMs;
      this.#clockAheadMs = found.clockAheadMs;
      onServer?.(found);
    });
  }

  /** Asks which server there is, once at a time. */
  #ask(): Promise<void> {
    this.#identifying ??= this.#identify(1).finally(() => {
      this.#identifying = undefined;
    });
    return this.#identifying;
  }

  #isLapsed(): boolean {
    return this.#options.clock.elapsedMs() - this.#permittedMs > PERMIT_MS;
  }

  /** Runs a step. An error that no retry mends ends all writes. */
  async #noting(step: () => Promise<void>): Promise<void> {
    try {
      await step();
    } catch (error) {
      if (error instanceof OperatorError && fatalCodes.has(error.code)) {
        this.#refuse(error);
      } else if (messageOf(error) !== this.#warned) {
        this.#warned = messageOf(error);
        this.#options.log.warn({ err: this.#warned }, 'check of the database failed');
      }
      throw error;
    }
  }
  /** Ends all writes. */
  #refuse(error: OperatorError): void {
    this.#fatal = error;
    this.#failure.reject(error);
  }
}
