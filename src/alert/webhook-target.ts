import type { AnomalyEvent } from '../detect/event/anomaly-event.ts';
import type { AlertTarget } from './alert-target.ts';
import { type CloudEvent, cloudEvent, cloudEventContentType } from './cloud-event.ts';
import { webhookSignature } from './webhook-signature.ts';

export interface WebhookOptions {
  readonly url: string;
  /** Longest wait for a response to one attempt. */
  readonly timeoutMs: number;
  /** Signs requests if given; the caller reads it from `secret_file`. */
  readonly secret?: string | undefined;
  readonly fetch: typeof fetch;
  readonly nowMs: () => number;
  readonly sleep: (ms: number) => Promise<void>;
}

const maxAttempts = 5;
const firstBackoffMs = 500;
const maxBackoffMs = 10_000;
const tooManyRequests = 429;

/** Error of a failed attempt, and its retryability. */
interface Refusal {
  readonly reason: string;
  readonly retryable: boolean;
  readonly retryAfterMs?: number;
}

/**
 * Posts events: CloudEvents' HTTP binding in binary mode, signed after Standard Webhooks if there is a
 * secret. Responses 5xx and 429, timeouts and broken connections are retried, five attempts in all. Waits are
 * 0.5, 1, 2 and 4 s, or `Retry-After` up to 10 s. Redirects are not followed, since the operator named this
 * address. Errors name the host only, since paths of webhooks are secrets.
 */
export class WebhookTarget implements AlertTarget {
  readonly name: string;
  readonly #options: WebhookOptions;
  /** Without the login, which fetch refuses in an address. */
  readonly #address: string;
  readonly #authorization: string | undefined;

  constructor(options: WebhookOptions) {
    const url = new URL(options.url);
    this.name = `webhook ${url.host}`;
    this.#options = options;
    this.#authorization = basicLogin(url);
    url.username = '';
    url.password = '';
    this.#address = url.href;
  }

  /** @throws after the last attempt, or at once where a retry would be refused too */
  async deliver(event: AnomalyEvent): Promise<void> {
    const message = cloudEvent(event);
    for (let attempt = 1; ; attempt++) {
      const refusal = await this.#attempt(message);
      if (refusal === undefined) return;
      if (!refusal.retryable || attempt === maxAttempts) {
        const tries = attempt === 1 ? '1 attempt' : `${attempt} attempts`;
        throw new Error(`${this.name} did not take the event after ${tries}: ${refusal.reason}`);
      }
      const backoffMs = firstBackoffMs * 2 ** (attempt - 1);
      await this.#options.sleep(Math.min(refusal.retryAfterMs ?? backoffMs, maxBackoffMs));
    }
  }

  async #attempt(message: CloudEvent): Promise<Refusal | undefined> {
    const { timeoutMs, fetch } = this.#options;
    let response: Response;
    try {
      response = await fetch(this.#address, {
        method: 'POST',
        body: message.body,
        headers: this.#headers(message),
        redirect: 'manual',
        signal: AbortSignal.timeout(timeoutMs),
      });
    } catch (error) {
      const timedOut = error instanceof Error && error.name === 'TimeoutError';
      const reason = timedOut ? `no answer within ${timeoutMs} ms` : causeOf(error);
      return { reason, retryable: true };
    }
    // The response's body is unused; left unread, it would hold the connection.
    await response.body?.cancel().catch(() => undefined);
    return refusalOf(response);
  }

  #headers({ attributes, body }: CloudEvent): Record<string, string> {
    const headers: Record<string, string> = { 'content-type': cloudEventContentType };
    for (const [name, value] of Object.entries(attributes)) headers[`ce-${name}`] = value;
    if (this.#authorization !== undefined) headers.authorization = this.#authorization;
    const { secret, nowMs } = this.#options;
    if (secret !== undefined) {
      const timestampSeconds = Math.floor(nowMs() / 1000);
      const { id } = attributes;
      headers['webhook-id'] = id;
      headers['webhook-timestamp'] = String(timestampSeconds);
      headers['webhook-signature'] = webhookSignature({ secret, id, timestampSeconds, body });
    }
    return headers;
  }
}

function basicLogin({ username, password }: URL): string | undefined {
  if (username === '' && password === '') return undefined;
  const login = `${decodeURIComponent(username)}:${decodeURIComponent(password)}`;
  return `Basic ${Buffer.from(login).toString('base64')}`;
}

function refusalOf(response: Response): Refusal | undefined {
  const { status } = response;
  if (status >= 200 && status < 300) return undefined;
  // A redirect that is not followed may show as status 0.
  const isRedirect = status === 0 || (status >= 300 && status < 400);
  if (isRedirect) return { reason: 'it redirects, which is not followed', retryable: false };
  const reason = `it answered ${status}`;
  if (status < 500 && status !== tooManyRequests) return { reason, retryable: false };
  const seconds = Number(response.headers.get('retry-after') ?? Number.NaN);
  if (!(seconds >= 0)) return { reason, retryable: true };
  return { reason, retryable: true, retryAfterMs: seconds * 1000 };
}

/** Node wraps errors into "fetch failed"; the cause's code (ECONNREFUSED) identifies the error. */
function causeOf(error: unknown): string {
  if (!(error instanceof Error)) return 'the connection failed';
  const { cause } = error;
  if (cause instanceof Error && 'code' in cause) return `the connection failed: ${cause.code}`;
  return 'the connection failed';
}
