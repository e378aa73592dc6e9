import { Arena } from '../../memory/arena.ts';
import { serializeDigest } from '../../series/snapshot-series.ts';
import type { TDigest } from '../../sketch/t-digest.ts';
import type { StateArchive } from '../../snapshot/archive.ts';
import { quarantineWindows } from '../options/detect-options.ts';
import type { CountedRequests, WholeRequests } from './proportion.ts';
import { WindowRing, windowFields } from './window-ring.ts';

const memory = Arena.shared();

/** Whether an anomaly goes on is looked for in so many windows, in more where they hold too few requests. */
const mostKept = 30;
/** How long requests take beside it is said of so many windows: each has a slot of its own among those kept. */
const mostDigests = quarantineWindows;

/** What is kept of a window, a cache line of it. */
const { start: START, requests: REQUESTS, hits: HITS } = windowFields;
const ERRORS = windowFields.end;
const TIMEOUTS = ERRORS + 1;
const LEARNABLE = TIMEOUTS + 1;
const SUSPICIOUS = LEARNABLE + 1;
const STAGE = SUSPICIOUS + 1;
const fields = STAGE + 1;

/** The last windows in which requests were counted, by where they lie; the newest of them are in quarantine. */
export class CountedWindows extends WindowRing {
  /** Names of stages that stood for whole requests, and the last of them: it is always the same, mostly. */
  readonly #stages = [''];
  #stage = '';
  #stageIndex = 0;
  /** By slot: what requests of the last windows take. */
  readonly #digests: CountedRequests['digests'][] = Array(mostDigests).fill([]);
  #quarantined = 0;

  constructor() {
    super(fields, mostKept);
  }

  /** One more that goes into quarantine: learnable and not suspicious. */
  add(startMs: number, { whole, hits, digests }: CountedRequests): void {
    const at = this.push();
    const all = memory.doubles;
    all[at + START] = startMs;
    all[at + REQUESTS] = whole.requests;
    all[at + HITS] = Math.min(whole.requests, hits);
    all[at + ERRORS] = whole.errors;
    all[at + TIMEOUTS] = whole.timeouts;
    all[at + LEARNABLE] = 1;
    all[at + SUSPICIOUS] = 0;
    all[at + STAGE] = this.#indexOf(whole.stage);
    this.#digests[this.slotOf(at) % mostDigests] = digests;
    this.#quarantined += 1;
  }

  isLearnable(at: number): boolean {
    return memory.doubles[at + LEARNABLE] === 1;
  }

  isSuspicious(at: number): boolean {
    return memory.doubles[at + SUSPICIOUS] === 1;
  }

  /** It is not to be learnt. */
  setAside(at: number): void {
    memory.doubles[at + LEARNABLE] = 0;
  }

  /** The newest is odd. */
  suspect(): void {
    memory.doubles[this.back(1) + SUSPICIOUS] = 1;
  }

  /** Oldest first. */
  get quarantine(): readonly number[] {
    return this.lastOf(this.#quarantined);
  }

  /** Lets the oldest one out of quarantine, where there is one more than belong there. */
  release(): number | undefined {
    if (this.#quarantined <= quarantineWindows) return undefined;
    return this.back(this.#quarantined--);
  }

  /** Whole requests of the last so many, oldest first. */
  wholesOf(windows: number): WholeRequests[] {
    const all = memory.doubles;
    return this.lastOf(windows).map((at) => ({
      stage: this.#stageOf(at),
      requests: all[at + REQUESTS] as number,
      errors: all[at + ERRORS] as number,
      timeouts: all[at + TIMEOUTS] as number,
    }));
  }

  /** What requests take in the last so many, as far as that is known, oldest first. */
  digestsOf(windows: number): TDigest[] {
    const places = this.lastOf(Math.min(windows, mostDigests));
    return places.flatMap((at) => this.#digestsAt(at));
  }

  serialize(state: StateArchive): void {
    this.serializeEach(state, (at) => this.#serializeWindow(state, at));
    this.#quarantined = state.number(this.#quarantined);
    const known = this.lastOf(mostDigests).map((at) => this.#digestsAt(at));
    const digests = state.list(known, (each = []) =>
      state.list(each, (digest) => serializeDigest(state, digest)),
    );
    digests.forEach((each, i) => {
      const at = this.back(digests.length - i);
      this.#digests[this.slotOf(at) % mostDigests] = each;
    });
  }

  #digestsAt(at: number): TDigest[] {
    return [this.#digests[this.slotOf(at) % mostDigests] ?? []].flat();
  }

  #stageOf(at: number): string {
    return this.#stages[memory.doubles[at + STAGE] as number] as string;
  }

  /** Where the name of a stage is. */
  #indexOf(stage: string): number {
    if (stage === this.#stage) return this.#stageIndex;
    const known = this.#stages.indexOf(stage);
    this.#stageIndex = known < 0 ? this.#stages.push(stage) - 1 : known;
    this.#stage = stage;
    return this.#stageIndex;
  }

  #serializeWindow(state: StateArchive, at: number): void {
    const all = memory.doubles;
    all[at + START] = state.number(all[at + START] as number);
    all[at + STAGE] = this.#indexOf(state.text(this.#stageOf(at)));
    for (const field of [REQUESTS, ERRORS, TIMEOUTS, HITS]) {
      all[at + field] = state.number(all[at + field] as number);
    }
    for (const field of [LEARNABLE, SUSPICIOUS]) {
      all[at + field] = state.flag(all[at + field] === 1) ? 1 : 0;
    }
  }
}
