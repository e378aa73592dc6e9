import type { Clock } from '../base/clock.ts';
import { knownSecrets } from '../base/telemetry/known-secrets.ts';
import type { Logger } from '../base/telemetry/log.ts';
import type {
  MissingSchema,
  RegisteredSchema,
  SchemaId,
  SchemaSource,
} from '../formats/records/schema-source.ts';
import { fetchSchema } from './fetch-schema.ts';
import { RegistryHttp } from './registry-http.ts';
import type { RegistryConfig } from './registry-login.ts';
import { SchemaCache } from './schema-cache.ts';

/** Waits between attempts: the first, and the longest. Each is twice the one before. */
const firstWaitMs = 250;
const longestWaitMs = 30_000;

/** Counts attempts by outcome; a counter with the label `outcome`. */
export interface RegistryCounter {
  inc(labels: { readonly outcome: 'found' | 'missing' | 'failed' }): void;
}

export interface SchemaRegistryOptions {
  readonly config: RegistryConfig;
  readonly clock: Clock;
  readonly log: Logger;
  readonly requests: RegistryCounter;
}

/**
 * Schemas of a registry with Confluent's API, by id. Each is fetched once, as ids are for ever, and by one
 * request at a time. Whatever is not a schema, and not the registry's word that it has none, is tried again
 * until it is one of them: the caller waits. The log has a line when the registry fails, one when it fails
 * in another way, and one when it is back.
 */
export class SchemaRegistry implements SchemaSource {
  readonly #options: SchemaRegistryOptions;
  readonly #http: RegistryHttp;
  readonly #cache: SchemaCache;
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
  }

  get(id: SchemaId): RegisteredSchema | MissingSchema | undefined {
    return this.#cache.get(id);
  }

  /** What the registry did when it was last asked in vain, without secrets; undefined while it gives all. */
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
    for (let waitMs = firstWaitMs; ; waitMs = Math.min(2 * waitMs, longestWaitMs)) {
      signal.throwIfAborted();
      const result = await fetchSchema(this.#http, id);
      signal.throwIfAborted();
      if (!('failure' in result)) {
        requests.inc({ outcome: 'missing' in result ? 'missing' : 'found' });
        this.#cache.put(id, result);
        this.#recovered(id);
        return;
      }
      requests.inc({ outcome: 'failed' });
      this.#failed(id, result.failure);
      await clock.sleep(Math.max(waitMs, result.retryAfterMs ?? 0), signal);
    }
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
