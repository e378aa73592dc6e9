import { isUtf8 } from 'node:buffer';
import { coldStartIndex, dimensions, milestoneStage } from '../../base/dimensions.ts';
import { limits } from '../../base/limits.ts';
import { statuses } from '../../base/statuses.ts';
import { attributeNames } from '../../series/own-attributes.ts';
import type { DecodeContext } from '../decode-event.ts';
import { DecodedEvent } from '../decoded-event.ts';
import { eventFields, fieldKinds } from '../event-fields.ts';
import { isPlausibleTs } from '../is-plausible-ts.ts';
import { AttributeScanner } from '../json/attribute-scanner.ts';
import { GapScanner } from '../json/gap-scanner.ts';
import { afterSpace, JsonScanner } from '../json/json-scanner.ts';
import { KeyMatcher } from '../json/key-matcher.ts';
import { Pattern } from '../json/pattern.ts';
import { scanEpochMs } from '../json/scan-epoch-ms.ts';
import { Shape } from '../json/shape.ts';
import { StageScanner } from '../json/stage-scanner.ts';
import { ValueScanner } from '../json/value-scanner.ts';
import type { EventKernel } from '../kernel/event-kernel.ts';
import { KernelScanner } from '../kernel/kernel-scanner.ts';
import type { TimingEventLimits } from '../timing-event.ts';

const QUOTE = 0x22;

const kinds = Int32Array.from(eventFields, (field) => field.kind);
const slots = Int32Array.from(eventFields, (field) => field.slot);
const modelIndex = dimensions.indexOf('model');
const trueWord = new Pattern('true');
const falseWord = new Pattern('false');
const nullWord = Buffer.from('null');
/** Quoted statuses, in the order of `statuses`. */
const statusWords = statuses.map((status) => new Pattern(`"${status}"`));

/**
 * Hot path: decodes one event from bytes to a DecodedEvent in one pass, without allocation. It reads only
 * plain, valid events. At an escape, a repeated key, a value out of range or broken JSON it returns -1. Then
 * `decodeEvent` reads the event, so the two cannot differ. Strings are interned only once the whole event is
 * valid.
 */
export class EventScanner {
  readonly #context: DecodeContext;
  readonly #limits: TimingEventLimits;
  readonly #json = new JsonScanner();
  readonly #keys = new KeyMatcher(this.#json);
  readonly #values: ValueScanner;
  readonly #stages: StageScanner;
  readonly #milestones: StageScanner;
  readonly #gaps: GapScanner;
  /** Absent where no own dimension or facet is configured. */
  readonly #attributes: AttributeScanner | undefined;
  readonly #shape = new Shape();
  /** Reads most events, if there is WebAssembly. */
  readonly #kernelScanner: KernelScanner | undefined;
  /** Last event scanned. */
  readonly event: DecodedEvent;
  /** Generations of the interners that the ids held here are of. */
  #valuesGeneration = 0;
  #stagesGeneration = 0;
  /** Fields of this event, a bit each. */
  #seen = 0;
  #isPartial = false;
  /** UTF-8 validity of the message, checked once, at the first byte beyond ASCII. */
  #utf8: 'unasked' | 'valid' | 'invalid' = 'unasked';

  /** @param kernel undefined: JavaScript reads everything. */
  constructor(context: DecodeContext, limits: TimingEventLimits, kernel?: EventKernel) {
    this.#context = context;
    this.event = new DecodedEvent(kernel);
    if (kernel !== undefined) this.#kernelScanner = new KernelScanner(kernel, context, limits);
    this.#limits = limits;
    this.#values = new ValueScanner(this.#json, context.values, limits.maxDimensionBytes);
    const names = attributeNames(limits);
    if (names !== undefined) {
      this.#attributes = new AttributeScanner(
        this.#json,
        context.values,
        names,
        limits.maxDimensionBytes,
      );
    }
    const { maxDurationMs } = limits;
    this.#stages = new StageScanner(this.#json, context.stages, maxDurationMs);
    this.#milestones = new StageScanner(this.#json, context.stages, maxDurationMs, milestoneStage);
    this.#gaps = new GapScanner(this.#json, maxDurationMs);
  }

  get kernelCount(): number {
    return this.#kernelScanner?.eventCount ?? 0;
  }

  /** Begins a message, and forgets the ids of interners that were cleared. */
  begin(message: Buffer): void {
    this.#json.begin(message);
    this.#utf8 = 'unasked';
    this.#kernelScanner?.begin();
    const { values, stages } = this.#context;
    if (this.#valuesGeneration !== values.generation) {
      this.#valuesGeneration = values.generation;
      this.#values.forget();
      this.#attributes?.forget();
      this.#kernelScanner?.forgetValues();
    }
    if (this.#stagesGeneration !== stages.generation) {
      this.#stagesGeneration = stages.generation;
      this.#stages.forget();
      this.#milestones.forget();
      this.#kernelScanner?.forgetStages();
    }
  }

  /**
   * Scans the object that begins at `start` into `event`. Returns the position after it, or -1 unless it is
   * a plain valid event; `event` is then undefined.
   */
  scan(bytes: Buffer, start: number, end: number): number {
    if (bytes[start] !== 0x7b) return -1;
    const read = this.#scanWithKernel(bytes, start, end);
    return read >= 0 ? read : this.#scanInJavaScript(bytes, start, end);
  }

  #scanWithKernel(bytes: Buffer, start: number, end: number): number {
    const { event } = this;
    const kernel = this.#kernelScanner;
    if (kernel === undefined) return -1;
    const after = kernel.scan(bytes, start, end, event);
    if (after < 0 || event.dimensionIds[modelIndex] === 0) return -1;
    if (Number.isNaN(event.totalMs)) {
      // The kernel knows the stages by their ids already.
      if (event.stageCount === 0) return -1;
      this.#context.totals.complete(event, kernel.isPartial);
      if (event.totalMs > this.#limits.maxDurationMs) return -1;
    }
    if (kernel.sawHighByte && !this.#isUtf8(bytes)) return -1;
    if (!this.#readAttributes(kernel, bytes, event)) return -1;
    kernel.resolve(bytes, event);
    this.#attributes?.resolve(bytes, event);
    return after;
  }

  /** Reads the attributes that the kernel has found, where any are configured. Returns false if they are not plain. */
  #readAttributes(kernel: KernelScanner, bytes: Buffer, event: DecodedEvent): boolean {
    if (this.#attributes === undefined) return true;
    this.#attributes.begin(event);
    const { attributesStart: start, attributesEnd: end } = kernel;
    return start === end || this.#attributes.read(bytes, start, end, event);
  }

  #scanInJavaScript(bytes: Buffer, start: number, end: number): number {
    const { event } = this;
    this.#reset(bytes, event);
    let after = this.#scanShaped(bytes, start, end, event);
    const isShaped = after >= 0;
    if (!isShaped) {
      this.#shape.miss();
      this.#reset(bytes, event);
      after = this.#scanAny(bytes, start, end, event);
    }
    if (after < 0 || !this.#finish(bytes, event)) return -1;
    // The recorded steps are those of the last object read without the shape, which may be broken.
    if (!isShaped) this.#shape.learn(bytes);
    else if (this.#stages.isShaped && this.#milestones.isShaped) {
      this.#kernelScanner?.learn(this.#shape, this.#stages.shape, this.#milestones.shape);
    }
    return after;
  }

  /** Reads an object of the known shape; -1 for another. */
  #scanShaped(bytes: Buffer, start: number, end: number, event: DecodedEvent): number {
    const json = this.#json;
    const shape = this.#shape;
    const { count } = shape;
    if (count === 0) return -1;
    let pos = start;
    for (let n = 0; n < count; n++) {
      const step = shape.step(n);
      if (!json.matches(step, pos, end)) return -1;
      pos += step.length;
      if (step.id === KeyMatcher.unknown) pos = json.skipValue(bytes, pos, end, 2);
      else if (pos < end) pos = this.#value(step.id, bytes, pos, end, event);
      else return -1;
      if (pos < 0) return -1;
    }
    return pos < end && bytes[pos] === 0x7d ? pos + 1 : -1;
  }

  #scanAny(bytes: Buffer, start: number, end: number, event: DecodedEvent): number {
    const json = this.#json;
    let pos = start + 1;
    let step = start;
    for (;;) {
      if (pos < end && (bytes[pos] as number) <= 0x20) pos = afterSpace(bytes, pos, end);
      const field = this.#keys.match(bytes, pos, end);
      if (field === KeyMatcher.doubt) return -1;
      pos = this.#keys.end;
      if (pos < end && (bytes[pos] as number) <= 0x20) pos = afterSpace(bytes, pos, end);
      this.#shape.record(step, pos, field);
      if (field === KeyMatcher.unknown) pos = json.skipValue(bytes, pos, end, 2);
      else pos = this.#field(field, bytes, pos, end, event);
      if (pos < 0) return -1;
      step = pos;
      if (pos < end && (bytes[pos] as number) <= 0x20) pos = afterSpace(bytes, pos, end);
      if (pos >= end) return -1;
      const delimiter = bytes[pos++];
      if (delimiter === 0x2c) continue;
      return delimiter === 0x7d ? pos : -1;
    }
  }

  #reset(bytes: Buffer, event: DecodedEvent): void {
    this.#json.sawHighByte = false;
    this.#keys.begin();
    this.#seen = 0;
    this.#values.begin();
    this.#attributes?.begin(event);
    this.#stages.begin();
    this.#milestones.begin();
    this.#isPartial = false;
    event.tsMs = Number.NaN;
    event.status = 0;
    for (let i = 0; i < dimensions.length; i++) event.dimensionIds[i] = 0;
    event.totalMs = Number.NaN;
    event.stageCount = 0;
    event.amounts.fill(Number.NaN);
    event.weight = 1;
    event.gapCount = 0;
    event.longTexts = 0;
    event.cacheHit = -1;
    event.bytes = bytes;
    event.traceStart = 0;
    event.traceEnd = 0;
    event.idStart = 0;
    event.idEnd = 0;
  }

  /** Reads the value of a known field; returns the position after it, or -1. */
  #field(field: number, bytes: Buffer, pos: number, end: number, event: DecodedEvent): number {
    const bit = 1 << field;
    // Repeated keys are left to JSON.parse, which keeps the last.
    if ((this.#seen & bit) !== 0 || pos >= end) return -1;
    this.#seen |= bit;
    if (bytes[pos] === 0x6e) return this.#json.word(bytes, pos, end, nullWord);
    return this.#value(field, bytes, pos, end, event);
  }

  /** Reads a value other than null. */
  #value(field: number, bytes: Buffer, pos: number, end: number, event: DecodedEvent): number {
    switch (kinds[field]) {
      case fieldKinds.ts:
        return this.#ts(bytes, pos, end, event);
      case fieldKinds.dimension:
        return this.#values.scan(slots[field] as number, bytes, pos, end, event);
      case fieldKinds.id: {
        const close = this.#values.label(bytes, pos, end);
        event.idStart = pos + 1;
        event.idEnd = close;
        return close < 0 ? -1 : close + 1;
      }
      case fieldKinds.traceId: {
        const close = this.#values.label(bytes, pos, end);
        event.traceStart = pos + 1;
        event.traceEnd = close;
        return close < 0 ? -1 : close + 1;
      }
      case fieldKinds.status:
        return this.#status(pos, end, event);
      case fieldKinds.amount:
        return this.#amount(slots[field] as number, bytes, pos, end, event);
      case fieldKinds.totalMs: {
        const after = this.#json.number(bytes, pos, end);
        const ms = this.#json.value[0] as number;
        event.totalMs = ms;
        return ms <= this.#limits.maxDurationMs ? after : -1;
      }
      case fieldKinds.weight:
        return this.#weight(bytes, pos, end, event);
      case fieldKinds.stagesMs:
        return this.#stages.scan(bytes, pos, end, event);
      case fieldKinds.milestonesMs:
        return this.#milestones.scan(bytes, pos, end, event);
      case fieldKinds.attributes:
        if (this.#attributes === undefined) return this.#json.skipValue(bytes, pos, end, 2);
        return this.#attributes.scan(bytes, pos, end, event);
      case fieldKinds.itlMs:
        return this.#gaps.scan(bytes, pos, end, event);
      default:
        return this.#flag(kinds[field] as number, bytes, pos, end, event);
    }
  }

  #ts(bytes: Buffer, pos: number, end: number, event: DecodedEvent): number {
    let ms = 0;
    let after = 0;
    if (bytes[pos] === QUOTE) {
      const close = this.#json.plainString(bytes, pos + 1, end);
      if (close < 0) return -1;
      ms = scanEpochMs(bytes, pos + 1, close);
      after = close + 1;
    } else {
      after = this.#json.number(bytes, pos, end);
      ms = Math.floor(this.#json.value[0] as number);
    }
    event.tsMs = ms;
    return isPlausibleTs(ms) ? after : -1;
  }

  #status(pos: number, end: number, event: DecodedEvent): number {
    for (let i = 0; i < statusWords.length; i++) {
      const word = statusWords[i] as Pattern;
      if (!this.#json.matches(word, pos, end)) continue;
      event.status = i;
      return pos + word.length;
    }
    return -1;
  }

  #amount(slot: number, bytes: Buffer, pos: number, end: number, event: DecodedEvent): number {
    const after = this.#json.number(bytes, pos, end);
    const value = this.#json.value[0] as number;
    event.amounts[slot] = value;
    return value < Number.POSITIVE_INFINITY ? after : -1;
  }

  #weight(bytes: Buffer, pos: number, end: number, event: DecodedEvent): number {
    const after = this.#json.number(bytes, pos, end);
    const weight = this.#json.value[0] as number;
    event.weight = weight;
    return Number.isInteger(weight) && weight >= 1 && weight <= limits.eventWeight ? after : -1;
  }

  #flag(kind: number, bytes: Buffer, pos: number, end: number, event: DecodedEvent): number {
    const isTrue = bytes[pos] === 0x74;
    if (kind === fieldKinds.coldStart) event.dimensionIds[coldStartIndex] = isTrue ? 1 : 0;
    else if (kind === fieldKinds.cacheHit) event.cacheHit = isTrue ? 1 : 0;
    else this.#isPartial = isTrue;
    const word = isTrue ? trueWord : falseWord;
    return this.#json.matches(word, pos, end) ? pos + word.length : -1;
  }

  /** Validates the whole event, then interns its new strings. Returns false if invalid. */
  #finish(bytes: Buffer, event: DecodedEvent): boolean {
    if (!this.#values.has(modelIndex, event) || Number.isNaN(event.tsMs)) return false;
    if (!this.#hasDurations(event, this.#isPartial)) return false;
    if (this.#json.sawHighByte && !this.#isUtf8(bytes)) return false;
    if (!this.#stages.resolve(bytes, event)) return false;
    if (this.#milestones.count > 0 && !this.#resolveMilestones(bytes, event)) return false;
    this.#values.resolve(bytes, event);
    this.#attributes?.resolve(bytes, event);
    this.#context.totals.complete(event, this.#isPartial);
    return true;
  }

  /** Interns the milestones. Returns false for one that is a stage too, which only the general path can handle. */
  #resolveMilestones(bytes: Buffer, event: DecodedEvent): boolean {
    if (!this.#milestones.resolve(bytes, event)) return false;
    const { stageIds, stageCount } = event;
    for (let i = 1; i < stageCount; i++) {
      if (stageIds.indexOf(stageIds[i] as number) < i) return false;
    }
    return true;
  }

  /** Returns false without a duration, and where all of them could add up to more than a total may be. */
  #hasDurations(event: DecodedEvent, isPartial: boolean): boolean {
    if (!Number.isNaN(event.totalMs)) return true;
    if (event.stageCount === 0) return false;
    if (isPartial) return true;
    let sumMs = 0;
    for (let i = 0; i < event.stageCount; i++) sumMs += event.stageMs[i] as number;
    return sumMs <= this.#limits.maxDurationMs;
  }

  #isUtf8(bytes: Buffer): boolean {
    if (this.#utf8 === 'unasked') this.#utf8 = isUtf8(bytes) ? 'valid' : 'invalid';
    return this.#utf8 === 'valid';
  }
}
