import { createHash } from 'node:crypto';
import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import type { Clock } from '../../../base/clock.ts';
import { minuteMs } from '../../../base/time.ts';
import { type Run, Work } from '../http/work.ts';

/** Bytes as responses take them. */
type Bytes = Uint8Array<ArrayBuffer>;

/** An answer as it is sent. */
export interface KeptAnswer {
  readonly body: Bytes;
  /** For who accepts gzip; undefined for a body too small to be worth it. */
  readonly gzip: Bytes | undefined;
  readonly etag: string;
}

/** An answer as it is given to who asks. */
export interface GivenAnswer extends KeptAnswer {
  /** False where it may have changed since. */
  readonly isCurrent: boolean;
  /** Milliseconds since it was last known to be current; 0 where it is. */
  readonly ageMs: number;
}

/** A question, and what its answer depends on at this moment. */
export interface CurrentQuestion {
  /** Who asks, and whose part of the cache a new answer takes. */
  readonly client: string;
  /** The same at any time, also where its range moves on. */
  readonly question: string;
  /** Of its range and of what is stored: an answer of another version may have changed. */
  readonly version: string;
  /** True where nothing that is stored later changes the answer. */
  readonly isFinal: boolean;
}

interface Kept extends KeptAnswer {
  readonly of: CurrentQuestion;
  /** Its part of the cache: its bytes, and not less than an even part. */
  readonly weight: number;
  /** Time at which it was asked for. */
  readonly readMs: number;
  readonly costMs: number;
  /** Time at which it was last known to be current. */
  currentMs: number;
  usedMs: number;
}

/** Limits of kept answers: bytes before compression, of a thousand at most. */
const mostBytes = 32 * 1024 * 1024;
const leastWeight = Math.floor(mostBytes / 1_000);
/** Bytes from which an answer is compressed. */
const leastCompressed = 16 * 1024;
/**
 * Ages of answers that are no longer current. While one is given, the next one is read, and nobody waits for
 * it. So no page waits when the answers to all questions become others at once, as with each minute.
 *
 * | value | unit | why |
 * |---|---|---|
 * | 20 | times what all recent questions cost | an older answer is not given: one viewer has the newest |
 * | 20 s | longest of that | two windows of 10 s |
 * | 0.6 | of it, from which the next one is read | a page that asks every 5 s asks between 12 s and 20 s |
 *
 * So all pages together take ClickHouse at most a twelfth of the time, up to the longest age.
 */
const ages = { costs: 20, mostMs: 20_000, readAgain: 0.6 } as const;
/** Age from which a question that nobody asks again costs nothing. */
const recentMs = minuteMs;

const gzipped = promisify(gzip);

type AnswerClock = Pick<Clock, 'elapsedMs' | 'yieldToEventLoop'>;

/**
 * Keeps answers by question. The least recently used answer of the client that holds most leaves first, so a client
 * with many large questions does not displace the answers of others. Equal questions that are asked at the same time
 * are answered by one query. An answer that is no longer current is given with its age: see `ages`.
 */
export class AnswerCache {
  readonly #clock: AnswerClock;
  readonly #render: (answer: object) => string;
  /** In order of use. */
  readonly #kept = new Map<string, Kept>();
  readonly #underWay = new Map<string, Work<Kept>>();
  /** Weight of what each client holds. */
  readonly #held = new Map<string, number>();
  #weight = 0;
  #oldestMs = 0;

  constructor(clock: AnswerClock, render: (answer: object) => string) {
    this.#clock = clock;
    this.#render = render;
  }

  /**
   * The answer to a question: at once where one is current, or is not too old; else a new one.
   *
   * @param wait waits for work, which may be under way for somebody else. It is also called for the reading
   * of an answer for who asks next.
   */
  async answer(
    of: CurrentQuestion,
    ask: Run<object>,
    wait: <T>(work: Work<T>) => Promise<T>,
  ): Promise<GivenAnswer> {
    const { question, version } = of;
    const nowMs = this.#clock.elapsedMs();
    const kept = this.#kept.get(question);
    const isCurrent = kept?.of.version === version;
    if (kept === undefined || !(isCurrent || nowMs - kept.currentMs < this.#oldestMs)) {
      return this.#given(await wait(this.#reading(of, ask)), version);
    }
    if (isCurrent) kept.currentMs = nowMs;
    else if (nowMs - kept.readMs >= ages.readAgain * this.#oldestMs) {
      // Where it fails, whoever asks once this answer is too old hears why.
      wait(this.#reading(of, ask)).catch(() => undefined);
    }
    kept.usedMs = nowMs;
    this.#kept.delete(question);
    this.#kept.set(question, kept);
    return this.#given(kept, version);
  }

  #given(kept: Kept, version: string): GivenAnswer {
    const isCurrent = kept.of.version === version;
    const ageMs = isCurrent ? 0 : this.#clock.elapsedMs() - kept.currentMs;
    return { ...{ body: kept.body, gzip: kept.gzip, etag: kept.etag }, isCurrent, ageMs };
  }

  /** The reading of an answer, which may be under way. */
  #reading(of: CurrentQuestion, ask: Run<object>): Work<Kept> {
    const { question } = of;
    const begun = this.#underWay.get(question);
    if (begun !== undefined) return begun;
    const readMs = this.#clock.elapsedMs();
    const work = new Work(
      (...given) => this.#ask(of, readMs, () => ask(...given)),
      () => this.#underWay.delete(question),
    );
    this.#underWay.set(question, work);
    return work;
  }

  async #ask(of: CurrentQuestion, readMs: number, ask: () => Promise<object>): Promise<Kept> {
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
      ...{ body, gzip: packed, etag, of, weight },
      ...{ readMs, costMs, currentMs: readMs, usedMs: madeMs },
    };
    this.#keep(kept);
    this.#oldestMs = Math.min(ages.costs * this.#recentCostMs(madeMs), ages.mostMs);
    return kept;
  }

  #keep(kept: Kept): void {
    const { client, question } = kept.of;
    this.#forget(question);
    this.#kept.set(question, kept);
    this.#hold(client, kept.weight);
    while (this.#weight > mostBytes) {
      const [[most] = ['']] = [...this.#held].toSorted(([, a], [, b]) => b - a);
      for (const [oldest, { of }] of this.#kept) {
        if (of.client !== most) continue;
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
    for (const { of, costMs, usedMs } of this.#kept.values()) {
      if (!of.isFinal && nowMs - usedMs < recentMs) sum += costMs;
    }
    return sum;
  }

  #forget(question: string): void {
    const kept = this.#kept.get(question);
    if (kept === undefined) return;
    this.#kept.delete(question);
    this.#hold(kept.of.client, -kept.weight);
  }
}
