import { totalStage } from '../../base/dimensions.ts';
import { grown } from '../../base/grown.ts';
import { limits } from '../../base/limits.ts';
import type { DecodedEvent } from '../decoded-event.ts';
import { Interner } from '../interner.ts';
import { afterSpace, type JsonScanner } from './json-scanner.ts';
import { Pattern } from './pattern.ts';
import { Shape } from './shape.ts';

const QUOTE = 0x22;
const maxNameLength = 64;
/** Bytes of a milestone's name that can be a stage's with `time_to_` before it; a longer one is in doubt. */
const maxMilestoneLength = 56;
/** Class of a byte of a stage name: 2 anywhere, 1 anywhere but first, 0 nowhere. */
const nameClass = new Uint8Array(256).map((_, byte) => {
  const char = String.fromCharCode(byte);
  if (/[A-Za-z]/.test(char)) return 2;
  return /[0-9_.:/-]/.test(char) ? 1 : 0;
});
const totalKey = Buffer.from(`"${totalStage}"`);

/**
 * Reads `stages_ms`, or `milestones_ms`, and adds them to the event's stages. As with an event's keys, the
 * stage that followed the last one in an earlier event is compared first, quotes included. A new name is
 * checked, and interned only by `resolve`, when the whole event is valid.
 */
export class StageScanner {
  readonly #json: JsonScanner;
  readonly #stages: Interner;
  readonly #maxMs: number;
  /** Quoted key and colon of each stage id that was read here. */
  #keys: (Pattern | undefined)[] = [];
  /** Stage that followed each stage id; 0, the empty string's id, is for the first. */
  #after = new Int32Array(limits.stageNames).fill(-1);
  /** Last event of each stage id: finds a repeated name. */
  #lastEvent = new Int32Array(limits.stageNames);
  #eventNumber = 0;
  readonly #starts = new Int32Array(limits.stagesPerEvent);
  readonly #ends = new Int32Array(limits.stagesPerEvent);
  #hasPending = false;
  /** The event's stages from here, so many, were read by this scanner. */
  #first = 0;
  #count = 0;
  /** Stage that a name is kept as; undefined: the name itself. */
  readonly #stageOf: ((name: string) => string) | undefined;
  readonly #maxLength: number;
  readonly shape = new Shape();
  /** True if the stages of this event, if any, match the shape: none repeated, none new. */
  isShaped = false;

  /** @param stageOf stage that a name is kept as. @default the name itself */
  constructor(
    json: JsonScanner,
    stages: Interner,
    maxMs: number,
    stageOf?: (name: string) => string,
  ) {
    this.#stageOf = stageOf;
    this.#maxLength = stageOf === undefined ? maxNameLength : maxMilestoneLength;
    this.#json = json;
    this.#stages = stages;
    this.#maxMs = maxMs;
  }

  /** Forgets all ids, after the interner was cleared. */
  forget(): void {
    this.#keys = [];
    this.#after.fill(-1);
    this.#lastEvent.fill(0);
    this.shape.forget();
  }

  /** Begins an event. */
  begin(): void {
    this.isShaped = true;
    this.#count = 0;
  }

  /** Number of stages of the event that were read by this scanner. */
  get count(): number {
    return this.#count;
  }

  /** Reads the object at `pos` into the event's stages; returns the position after it, or -1. */
  scan(bytes: Buffer, pos: number, end: number, event: DecodedEvent): number {
    this.#hasPending = false;
    this.#first = event.stageCount;
    const after = this.#scanShaped(bytes, pos, end, event);
    this.isShaped = after >= 0;
    if (after >= 0) return after;
    this.shape.miss();
    return this.#scanAny(bytes, pos, end, event);
  }

  /** Reads stages of the known shape; -1 for another. */
  #scanShaped(bytes: Buffer, start: number, end: number, event: DecodedEvent): number {
    const json = this.#json;
    const shape = this.shape;
    const { count } = shape;
    if (count === 0) return -1;
    const { stageIds, stageMs } = event;
    const first = this.#first;
    if (first + count > limits.stagesPerEvent) return -1;
    let pos = start;
    for (let n = 0; n < count; n++) {
      const step = shape.step(n);
      if (!json.matches(step, pos, end)) return -1;
      pos = json.number(bytes, pos + step.length, end);
      const ms = json.value[0] as number;
      if (pos < 0 || ms > this.#maxMs) return -1;
      stageIds[first + n] = step.id;
      stageMs[first + n] = ms;
    }
    this.#count = count;
    event.stageCount = first + count;
    return pos < end && bytes[pos] === 0x7d ? pos + 1 : -1;
  }

  #scanAny(bytes: Buffer, pos: number, end: number, event: DecodedEvent): number {
    const json = this.#json;
    if (bytes[pos] !== 0x7b) return -1;
    const { stageIds, stageMs } = event;
    const first = this.#first;
    let last = 0;
    let count = first;
    let i = pos + 1;
    let step = pos;
    if (i < end && (bytes[i] as number) <= 0x20) i = afterSpace(bytes, i, end);
    if (i < end && bytes[i] === 0x7d) return i + 1;
    for (;;) {
      if (count === limits.stagesPerEvent) return -1;
      let id = this.#after[last] as number;
      const key = id < 0 ? undefined : this.#keys[id];
      if (key !== undefined && json.matches(key, i, end)) {
        i += key.length;
      } else {
        const close = this.#name(bytes, i, end);
        if (close < 0) return -1;
        id = this.#idOrPending(bytes, i + 1, close, count - first);
        if (id >= 0) this.#after[last] = id;
        i = afterSpace(bytes, close + 1, end);
        if (i >= end || bytes[i] !== 0x3a) return -1;
        i++;
      }
      if (i < end && (bytes[i] as number) <= 0x20) i = afterSpace(bytes, i, end);
      this.shape.record(step, i, id);
      i = json.number(bytes, i, end);
      const ms = json.value[0] as number;
      if (i < 0 || ms > this.#maxMs) return -1;
      step = i;
      stageIds[count] = id;
      stageMs[count++] = ms;
      last = Math.max(id, 0);
      if (i < end && (bytes[i] as number) <= 0x20) i = afterSpace(bytes, i, end);
      if (i >= end) return -1;
      if (bytes[i] === 0x7d) break;
      if (bytes[i] !== 0x2c) return -1;
      i++;
      if (i < end && (bytes[i] as number) <= 0x20) i = afterSpace(bytes, i, end);
    }
    this.#count = count - first;
    event.stageCount = count;
    return i + 1;
  }

  /** Interns new names. Returns false for a repeated name, which only the general path can handle. */
  resolve(bytes: Buffer, event: DecodedEvent): boolean {
    if (this.isShaped || this.#count === 0) return true;
    if (++this.#eventNumber === 0x7fffffff) {
      this.#lastEvent.fill(0);
      this.#eventNumber = 1;
    }
    if (this.#hasPending) this.#intern(bytes, event);
    const eventNumber = this.#eventNumber;
    for (let i = 0; i < this.#count; i++) {
      const id = event.stageIds[this.#first + i] as number;
      if (this.#lastEvent[id] === eventNumber) return false;
      this.#lastEvent[id] = eventNumber;
    }
    // A shape has the ids as they were read, so none may be new.
    if (!this.#hasPending) this.shape.learn(bytes);
    return true;
  }

  /** Position of the closing quote of a valid stage name, or -1. */
  #name(bytes: Buffer, pos: number, end: number): number {
    if (pos + 1 >= end || bytes[pos] !== QUOTE) return -1;
    if (nameClass[bytes[pos + 1] as number] !== 2) return -1;
    let i = pos + 2;
    while (i < end && nameClass[bytes[i] as number] !== 0) i++;
    if (i >= end || bytes[i] !== QUOTE || i - pos - 1 > this.#maxLength) return -1;
    return this.#json.word(bytes, pos, end, totalKey) < 0 ? i : -1;
  }

  /** Id of a valid name, or -1 if it is new; `resolve` then interns it. */
  #idOrPending(bytes: Buffer, start: number, end: number, index: number): number {
    const id = this.#find(bytes, start, end);
    if (id >= 0) {
      this.#learn(id, bytes, start, end);
      return id;
    }
    this.#starts[index] = start;
    this.#ends[index] = end;
    this.#hasPending = true;
    return -1;
  }

  #find(bytes: Buffer, start: number, end: number): number {
    if (this.#stageOf === undefined) return this.#stages.find(bytes, start, end);
    const name = Buffer.from(this.#stageOf(bytes.toString('latin1', start, end)));
    return this.#stages.find(name, 0, name.length);
  }

  #intern(bytes: Buffer, event: DecodedEvent): void {
    const stageOf = this.#stageOf;
    for (let i = 0; i < this.#count; i++) {
      if ((event.stageIds[this.#first + i] as number) >= 0) continue;
      const [start, end] = [this.#starts[i] as number, this.#ends[i] as number];
      const id =
        stageOf === undefined
          ? this.#stages.intern(bytes, start, end)
          : this.#stages.internText(stageOf(bytes.toString('latin1', start, end)));
      event.stageIds[this.#first + i] = id;
      if (id !== Interner.otherId) this.#learn(id, bytes, start, end);
    }
  }

  /** Keeps a name for comparison: once per name, so it may allocate. */
  #learn(id: number, bytes: Buffer, start: number, end: number): void {
    if (this.#keys[id] !== undefined) return;
    this.#keys[id] = new Pattern(`"${bytes.toString('latin1', start, end)}":`);
    this.#growTo(id);
  }

  #growTo(id: number): void {
    if (id < this.#after.length) return;
    const after = new Int32Array(id * 2).fill(-1);
    after.set(this.#after);
    this.#after = after;
    this.#lastEvent = grown(this.#lastEvent, id * 2);
  }
}
