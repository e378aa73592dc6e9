import type { Clock } from '../base/clock.ts';
import { waitsOf } from '../base/retry.ts';
import { knownSecrets } from '../base/telemetry/known-secrets.ts';
import type { Logger } from '../base/telemetry/log.ts';
import type {
  MissingSchema,
  RegisteredSchema,
  SchemaId,
  SchemaSource,
} from '../formats/records/schema-source.ts';
import { fetchSchema, type NotFound } from './fetch-schema.ts';
import { RegistryHttp } from './registry-http.ts';
import type { RegistryConfig } from './registry-login.ts';
import { SchemaCache } from './schema-cache.ts';

const retryMs = { firstMs: 250, longestMs: 30_000 };

/** Counts attempts by outcome; a counter with the label `outcome`. */
export interface RegistryCounter {
  inc(labels: { readonly outcome: 'found' | 'missing' | 'failed' }): void;
}

export interface SchemaRegistryOptions {
  readonly config: RegistryConfig;
  readonly clock: Clock;
  readonly log: Logger;
  readonly requests: RegistryCounter;
  /** True if an id that the registry does not know is waited for: messages of now may have a new schema. */
  readonly waitsForNew: boolean;
}

/**
 * Schemas of a registry with Confluent's API, by id. Each is fetched once, as ids are for ever, and by one
 * request at a time. Whatever is not a schema, and not the registry's word that it has none, is tried again
 * until it is one of them: the caller waits. It also waits for a while where the registry says for the first
 * time that it has none (`missingWait`). The log has a line when the registry fails, one when it fails in
 * another way, and one when it is back; also when an id is waited for, and what came of it.
 */
export class SchemaRegistry implements SchemaSource {
  readonly #options: SchemaRegistryOptions;
  readonly #http: RegistryHttp;
  readonly #cache: SchemaCache;
  readonly #budget: MissingWaitBudget;
  readonly #fetches = new Map<SchemaId, Promise<void>>();
  readonly #closing = new AbortController();
  /** Ids that the registry has not given when it was asked last, and why. */
  readonly #failing = new Map<SchemaId, string>();
  /** The last failure, and the last that was logged; undefined while it gives all. */
  #failure: string | undefined;
  #logged: string | undefined;

  /** @throws {OperatorError} TAILMARK_CONFIG_INVALID if a certificate or key is not PEM. */
  constructor(options: SchemaRegistryOptions) {
    this.#options = options;
    const nowMs = () => options.clock.nowMs();
    this.#http = new RegistryHttp(options.config, nowMs);
    this.#cache = new SchemaCache(() => options.clock.elapsedMs());
    this.#budget = new MissingWaitBudget(() => options.clock.elapsedMs());
  }

  get(id: SchemaId): RegisteredSchema | MissingSchema | undefined {
    return this.#cache.get(id);
  }

  /** The registry's last failure, without secrets; undefined while it answers all requests. */
  get failure(): string | undefined {
    return this.#failure;
  }

  fetch(id: SchemaId): Promise<void> {
    let fetch = this.#fetches.get(id);
    if (fetch === undefined) {
      fetch = this.#fetchUntilKnown(id).finally(() => this.#fetches.delete(id));
      this.#fetches.set(id, fetch);
    }
    return fetch;
  }

  /** Ends every request; fetches that wait reject. */
  close(): void {
    this.#closing.abort(new Error('the schema registry client is closed'));
    this.#http.close();
  }

  async #fetchUntilKnown(id: SchemaId): Promise<void> {
    const { clock, requests } = this.#options;
    const { signal } = this.#closing;
    let sinceMs: number | undefined;
    for (const waitMs of waitsOf(retryMs)) {
      signal.throwIfAborted();
      const result = await fetchSchema(this.#http, id);
      signal.throwIfAborted();
      if ('failure' in result) {
        requests.inc({ outcome: 'failed' });
        this.#failed(id, result.failure);
        await clock.sleep(Math.max(waitMs, result.retryAfterMs ?? 0), signal);
        continue;
      }
      this.#recovered(id);
      requests.inc({ outcome: 'missing' in result ? 'missing' : 'found' });
      const pauseMs = 'missing' in result ? this.#pauseMs(id, result, waitMs, sinceMs) : 0;
      if (pauseMs === 0) {
        this.#cache.put(id, result);
        if (sinceMs !== undefined) this.#waited(id, clock.elapsedMs() - sinceMs, result);
        return;
      }
      if (sinceMs === undefined) this.#waits(id);
      sinceMs ??= clock.elapsedMs();
      await clock.sleep(pauseMs, signal);
    }
  }

  /** Time until an id is asked for again that the registry does not know; 0 for not at all. */
  #pauseMs(
    id: SchemaId,
    { mayCome }: NotFound,
    waitMs: number,
    sinceMs: number | undefined,
  ): number {
    const { clock, waitsForNew } = this.#options;
    if (!mayCome || !waitsForNew || this.#cache.wasMissing(id)) return 0;
    const { ofIdMs, pauseMs } = missingWait;
    const leftMs = ofIdMs - (sinceMs === undefined ? 0 : clock.elapsedMs() - sinceMs);
    return this.#budget.take(Math.min(waitMs, pauseMs, Math.max(0, leftMs)));
  }

  #waits(id: SchemaId): void {
    const { config, log } = this.#options;
    log.info(
      { url: config.url, schema_id: id },
      'the schema registry does not know a schema yet; its partitions wait for it',
    );
  }

  #waited(id: SchemaId, waitedMs: number, result: RegisteredSchema | NotFound): void {
    const { config, log } = this.#options;
    const fields = { url: config.url, schema_id: id, waited_ms: Math.round(waitedMs) };
    if ('missing' in result) {
      log.warn(
        fields,
        'the schema registry still does not know a schema; its messages are rejected',
      );
    } else log.info(fields, 'the schema registry knows the schema');
  }

  #failed(id: SchemaId, how: string): void {
    const failure = knownSecrets.hide(how);
    // Ids that fail in several ways at a time do not take turns in the log.
    const isKnown = this.#failing.get(id) === failure || this.#logged === failure;
    this.#failing.set(id, failure);
    this.#failure = failure;
    if (isKnown) return;
    this.#logged = failure;
    const { config, log } = this.#options;
    log.warn(
      { url: config.url, schema_id: id, failure },
      'the schema registry does not give a schema; its partitions wait',
    );
  }

  #recovered(id: SchemaId): void {
    if (!this.#failing.delete(id) || this.#failing.size > 0) return;
    this.#failure = undefined;
    this.#logged = undefined;
    this.#options.log.info({ url: this.#options.config.url }, 'the schema registry responds again');
  }
}

/**
 * Time that partitions wait for a schema that the registry does not know yet: a node learns of a new one from
 * its leader after the producer has used it.
 *
 * | value | unit | why |
 * |---|---|---|
 * | 60 s | of one id | followers lag by seconds, a node that restarts reads its log of schemas again first |
 * | 120 s, and 1/10 of the time since | of all ids | bytes that are no ids cost a tenth of the time |
 * | 5 s | longest pause between requests | a new schema is read soon after it is known |
 */
const missingWait = {
  ofIdMs: 60_000,
  ofAllMs: 120_000,
  shareOfTime: 1 / 10,
  pauseMs: 5_000,
} as const;

/** Time that may be spent waiting for ids that the registry does not know. */
class MissingWaitBudget {
  readonly #elapsedMs: () => number;
  #leftMs: number = missingWait.ofAllMs;
  #asOfMs: number;

  /** @param elapsedMs monotonic time. */
  constructor(elapsedMs: () => number) {
    this.#elapsedMs = elapsedMs;
    this.#asOfMs = elapsedMs();
  }

  /** Takes time from the budget; returns how much of it there is. */
  take(ms: number): number {
    const nowMs = this.#elapsedMs();
    const earnedMs = (nowMs - this.#asOfMs) * missingWait.shareOfTime;
    this.#leftMs = Math.min(missingWait.ofAllMs, this.#leftMs + earnedMs);
    this.#asOfMs = nowMs;
    const takenMs = Math.min(ms, Math.max(0, this.#leftMs));
    this.#leftMs -= takenMs;
    return takenMs;
  }
}
