import { createHash } from 'node:crypto';
import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import type { Clock } from '../../../base/clock.ts';
import { minuteMs } from '../../../base/time.ts';
import { Work } from '../http/work.ts';

/** Bytes as responses take them. */
type Bytes = Uint8Array<ArrayBuffer>;

/** An answer as it is sent. */
export interface KeptAnswer {
  readonly body: Bytes;
  /** For who accepts gzip; undefined for a body too small to be worth it. */
  readonly gzip: Bytes | undefined;
  readonly etag: string;
}

interface Kept extends KeptAnswer {
  /** Client that it was made for. */
  readonly client: string;
  /** Its part of the cache: its bytes, and not less than an even part. */
  readonly weight: number;
  readonly version: string;
  readonly madeMs: number;
  readonly costMs: number;
  usedMs: number;
}

/** Limits of kept answers: bytes before compression, of a thousand at most. */
const mostBytes = 32 * 1024 * 1024;
const leastWeight = Math.floor(mostBytes / 1_000);
/** Bytes from which an answer is compressed. */
const leastCompressed = 16 * 1024;
/**
 * An answer is kept for this many times what all recent questions cost, however much is stored meanwhile: so all
 * pages together take ClickHouse at most a twentieth of the time, up to the longest time that an answer is kept,
 * which is two windows of 10 s.
 */
const costsKept = 20;
const longestKeptMs = 20_000;
/** Age from which a question that nobody asks again costs nothing. */
const recentMs = minuteMs;

const gzipped = promisify(gzip);

type AnswerClock = Pick<Clock, 'elapsedMs' | 'yieldToEventLoop'>;

/**
 * Keeps answers by question. The least recently used answer of the client that holds most leaves first, so a client
 * with many large questions does not displace the answers of others. Equal questions that are asked at the same time
 * are answered by one query.
 */
export class AnswerCache {
  readonly #clock: AnswerClock;
  readonly #render: (answer: object) => string;
  /** In order of use. */
  readonly #kept = new Map<string, Kept>();
  readonly #underWay = new Map<string, Work<KeptAnswer>>();
  /** Weight of what each client holds. */
  readonly #held = new Map<string, number>();
  #weight = 0;
  #keptMs = 0;

  constructor(clock: AnswerClock, render: (answer: object) => string) {
    this.#clock = clock;
    this.#render = render;
  }

  /**
   * The kept answer to a question, or a new one where more has been stored since.
   *
   * @param client who asks, and whose part of the cache a new answer takes.
   * @param version of what is stored; '' for a question whose answer can no longer change.
   * @param wait waits for work that may be under way for somebody else
   */
  answer(
    client: string,
    question: string,
    version: string,
    ask: (signal: AbortSignal) => Promise<object>,
    wait: (work: Work<KeptAnswer>) => Promise<KeptAnswer>,
  ): Promise<KeptAnswer> {
    const kept = this.#kept.get(question);
    const nowMs = this.#clock.elapsedMs();
    if (kept !== undefined && (kept.version === version || nowMs - kept.madeMs < this.#keptMs)) {
      kept.usedMs = nowMs;
      this.#kept.delete(question);
      this.#kept.set(question, kept);
      return Promise.resolve(kept);
    }
    const begun = this.#underWay.get(question);
    if (begun !== undefined) return wait(begun);
    const work = new Work(
      (signal) => this.#ask(client, question, version, () => ask(signal)),
      () => this.#underWay.delete(question),
    );
    this.#underWay.set(question, work);
    return wait(work);
  }

  async #ask(
    client: string,
    question: string,
    version: string,
    ask: () => Promise<object>,
  ): Promise<KeptAnswer> {
    const startMs = this.#clock.elapsedMs();
    const answer = await ask();
    // The rows are large where there are many models: others are served before they are rendered, and after.
    await this.#clock.yieldToEventLoop();
    const body = new TextEncoder().encode(this.#render(answer));
    const madeMs = this.#clock.elapsedMs();
    await this.#clock.yieldToEventLoop();
    const etag = `W/"${createHash('sha256').update(body).digest('base64url').slice(0, 22)}"`;
    const packed = body.length < leastCompressed ? undefined : new Uint8Array(await gzipped(body));
    const costMs = madeMs - startMs;
    const weight = Math.max(body.length, leastWeight);
    const kept: Kept = {
      ...{ body, gzip: packed, etag, version, client, weight },
      ...{ madeMs, costMs, usedMs: madeMs },
    };
    this.#keep(question, kept);
    this.#keptMs = Math.min(costsKept * this.#recentCostMs(madeMs), longestKeptMs);
    return kept;
  }

  #keep(question: string, kept: Kept): void {
    this.#forget(question);
    this.#kept.set(question, kept);
    this.#hold(kept.client, kept.weight);
    while (this.#weight > mostBytes) {
      const [[most] = ['']] = [...this.#held].toSorted(([, a], [, b]) => b - a);
      for (const [oldest, { client }] of this.#kept) {
        if (client !== most) continue;
        this.#forget(oldest);
        break;
      }
    }
  }

  #hold(client: string, weight: number): void {
    const held = (this.#held.get(client) ?? 0) + weight;
    this.#weight += weight;
    if (held > 0) this.#held.set(client, held);
    else this.#held.delete(client);
  }

  /** Cost of one answer to each question that is asked again and again. */
  #recentCostMs(nowMs: number): number {
    let sum = 0;
    for (const { version, costMs, usedMs } of this.#kept.values()) {
      if (version !== '' && nowMs - usedMs < recentMs) sum += costMs;
    }
    return sum;
  }

  #forget(question: string): void {
    const kept = this.#kept.get(question);
    if (kept === undefined) return;
    this.#kept.delete(question);
    this.#hold(kept.client, -kept.weight);
  }
}
