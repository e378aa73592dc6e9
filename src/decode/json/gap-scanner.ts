import { limits } from '../../base/limits.ts';
import type { DecodedEvent } from '../decoded-event.ts';
import { afterSpace, type JsonScanner } from './json-scanner.ts';

const QUOTE = 0x22;
const COLON = 0x3a;

/** Reads `itl_ms`, milliseconds or counts by milliseconds, into the gaps of the event, which has none before. */
export class GapScanner {
  readonly #json: JsonScanner;
  readonly #maxMs: number;
  /** Milliseconds of the last count; its next ones must be greater. */
  #lastMs = -1;

  constructor(json: JsonScanner, maxMs: number) {
    this.#json = json;
    this.#maxMs = maxMs;
  }

  /**
   * Reads the array or object at `pos`; returns the position after it, or -1 unless it is plain and valid. The
   * milliseconds of an object must ascend: of two equal ones only JSON.parse knows which counts.
   */
  scan(bytes: Buffer, pos: number, end: number, event: DecodedEvent): number {
    const isCounts = bytes[pos] === 0x7b;
    if (!isCounts && bytes[pos] !== 0x5b) return -1;
    const close = isCounts ? 0x7d : 0x5d;
    this.#lastMs = -1;
    let i = afterSpace(bytes, pos + 1, end);
    if (i < end && bytes[i] === close) return i + 1;
    for (;;) {
      i = isCounts ? this.#count(bytes, i, end, event) : this.#gap(bytes, i, end, event);
      if (i < 0) return -1;
      if (i < end && (bytes[i] as number) <= 0x20) i = afterSpace(bytes, i, end);
      if (i >= end) return -1;
      const delimiter = bytes[i++];
      if (delimiter === close) return i;
      if (delimiter !== 0x2c) return -1;
      if (i < end && (bytes[i] as number) <= 0x20) i = afterSpace(bytes, i, end);
    }
  }

  #gap(bytes: Buffer, pos: number, end: number, event: DecodedEvent): number {
    if (event.gapCount === limits.gapsPerEvent) return -1;
    const i = this.#json.number(bytes, pos, end);
    const ms = this.#json.value[0] as number;
    if (i < 0 || ms > this.#maxMs) return -1;
    event.addGap(ms);
    return i;
  }

  /** Reads `"21.5":12`. */
  #count(bytes: Buffer, pos: number, end: number, event: DecodedEvent): number {
    const json = this.#json;
    if (pos >= end || bytes[pos] !== QUOTE) return -1;
    let i = json.number(bytes, pos + 1, end);
    const ms = json.value[0] as number;
    if (i < 0 || i >= end || bytes[i] !== QUOTE) return -1;
    if (ms > this.#maxMs || ms <= this.#lastMs) return -1;
    this.#lastMs = ms;
    i = afterSpace(bytes, i + 1, end);
    if (i >= end || bytes[i] !== COLON) return -1;
    i = json.number(bytes, afterSpace(bytes, i + 1, end), end);
    const count = json.value[0] as number;
    if (i < 0 || !Number.isInteger(count)) return -1;
    if (event.gapCount + count > limits.gapsPerEvent) return -1;
    for (let n = 0; n < count; n++) event.addGap(ms);
    return i;
  }
}
