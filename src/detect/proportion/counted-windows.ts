import { Arena } from '../../memory/arena.ts';
import { serializeDigest } from '../../series/snapshot-series.ts';
import type { TDigest } from '../../sketch/t-digest.ts';
import type { StateArchive } from '../../snapshot/archive.ts';
import { quarantineWindows } from '../options/detect-options.ts';
import type { CountedRequests, WholeRequests } from './proportion.ts';
import { WindowRing, windowFields } from './window-ring.ts';

const memory = Arena.shared();

/** Windows kept: an open anomaly is followed in as many as hold enough requests. */
const maxWindows = 30;
/** Newest windows whose digests are kept; each has its own slot. */
const maxDigests = quarantineWindows;

/** Fields of a window: one cache line. */
const { start: START, requests: REQUESTS, hits: HITS } = windowFields;
const ERRORS = windowFields.end;
const TIMEOUTS = ERRORS + 1;
const LEARNABLE = TIMEOUTS + 1;
const SUSPICIOUS = LEARNABLE + 1;
const STAGE = SUSPICIOUS + 1;
const fields = STAGE + 1;

/** The last windows with requests, by their offsets in the arena. The newest are in quarantine. */
export class CountedWindows extends WindowRing {
  /** Stages that stood for whole requests, mostly one. */
  readonly #stages = [''];
  /** Digests of the newest windows, by slot. */
  readonly #digests: CountedRequests['digests'][] = Array(maxDigests).fill([]);
  #quarantined = 0;

  constructor() {
    super(fields, maxWindows);
  }

  /** Adds a window to the quarantine: learnable and not suspicious. */
  add(startMs: number, { whole, hits, digests }: CountedRequests): void {
    const offset = this.push();
    const all = memory.doubles;
    all[offset + START] = startMs;
    all[offset + REQUESTS] = whole.requests;
    all[offset + HITS] = Math.min(whole.requests, hits);
    all[offset + ERRORS] = whole.errors;
    all[offset + TIMEOUTS] = whole.timeouts;
    all[offset + LEARNABLE] = 1;
    all[offset + SUSPICIOUS] = 0;
    all[offset + STAGE] = this.#indexOf(whole.stage);
    this.#digests[this.slotOf(offset) % maxDigests] = digests;
    this.#quarantined += 1;
  }

  isLearnable(offset: number): boolean {
    return memory.doubles[offset + LEARNABLE] === 1;
  }

  isSuspicious(offset: number): boolean {
    return memory.doubles[offset + SUSPICIOUS] === 1;
  }

  exclude(offset: number): void {
    memory.doubles[offset + LEARNABLE] = 0;
  }

  /** Marks the newest window. */
  markSuspicious(): void {
    memory.doubles[this.offsetBack(1) + SUSPICIOUS] = 1;
  }

  /** Windows in quarantine, oldest first. */
  get quarantine(): readonly number[] {
    return this.lastOffsets(this.#quarantined);
  }

  /** Releases the oldest window once the quarantine holds more than `quarantineWindows`. */
  release(): number | undefined {
    if (this.#quarantined <= quarantineWindows) return undefined;
    return this.offsetBack(this.#quarantined--);
  }

  /** Whole requests of the last windows, oldest first. */
  wholesOf(windows: number): WholeRequests[] {
    const all = memory.doubles;
    return this.lastOffsets(windows).map((offset) => ({
      stage: this.#stageOf(offset),
      requests: all[offset + REQUESTS] as number,
      errors: all[offset + ERRORS] as number,
      timeouts: all[offset + TIMEOUTS] as number,
    }));
  }

  /** Digests of the last windows, as far as they are kept, oldest first. */
  digestsOf(windows: number): TDigest[] {
    const offsets = this.lastOffsets(Math.min(windows, maxDigests));
    return offsets.flatMap((offset) => this.#windowDigests(offset));
  }

  serialize(state: StateArchive): void {
    this.serializeEach(state, (offset) => this.#serializeWindow(state, offset));
    this.#quarantined = state.number(this.#quarantined);
    const known = this.lastOffsets(maxDigests).map((offset) => this.#windowDigests(offset));
    const digests = state.list(known, (each = []) =>
      state.list(each, (digest) => serializeDigest(state, digest)),
    );
    digests.forEach((each, i) => {
      const offset = this.offsetBack(digests.length - i);
      this.#digests[this.slotOf(offset) % maxDigests] = each;
    });
  }

  #windowDigests(offset: number): TDigest[] {
    return [this.#digests[this.slotOf(offset) % maxDigests] ?? []].flat();
  }

  #stageOf(offset: number): string {
    return this.#stages[memory.doubles[offset + STAGE] as number] as string;
  }

  #indexOf(stage: string): number {
    const known = this.#stages.indexOf(stage);
    return known < 0 ? this.#stages.push(stage) - 1 : known;
  }

  #serializeWindow(state: StateArchive, offset: number): void {
    const all = memory.doubles;
    all[offset + START] = state.number(all[offset + START] as number);
    all[offset + STAGE] = this.#indexOf(state.text(this.#stageOf(offset)));
    for (const field of [REQUESTS, ERRORS, TIMEOUTS, HITS]) {
      all[offset + field] = state.number(all[offset + field] as number);
    }
    for (const field of [LEARNABLE, SUSPICIOUS]) {
      all[offset + field] = state.flag(all[offset + field] === 1) ? 1 : 0;
    }
  }
}
