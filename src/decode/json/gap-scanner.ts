import { limits } from '../../base/limits.ts';
import type { DecodedEvent } from '../decoded-event.ts';
import { afterSpace, type JsonScanner } from './json-scanner.ts';

/** Reads `itl_ms`, an array of milliseconds, into the gaps of the event, which has none before. */
export class GapScanner {
  readonly #json: JsonScanner;
  readonly #maxMs: number;

  constructor(json: JsonScanner, maxMs: number) {
    this.#json = json;
    this.#maxMs = maxMs;
  }

  /** Reads the array at `pos`; returns the position after it, or -1 unless it is plain and valid. */
  scan(bytes: Buffer, pos: number, end: number, event: DecodedEvent): number {
    const json = this.#json;
    if (bytes[pos] !== 0x5b) return -1;
    let i = afterSpace(bytes, pos + 1, end);
    if (i < end && bytes[i] === 0x5d) return i + 1;
    for (;;) {
      if (event.gapCount === limits.gapsPerEvent) return -1;
      i = json.number(bytes, i, end);
      const ms = json.value[0] as number;
      if (i < 0 || ms > this.#maxMs) return -1;
      event.addGap(ms);
      if (i < end && (bytes[i] as number) <= 0x20) i = afterSpace(bytes, i, end);
      if (i >= end) return -1;
      const delimiter = bytes[i++];
      if (delimiter === 0x5d) return i;
      if (delimiter !== 0x2c) return -1;
      if (i < end && (bytes[i] as number) <= 0x20) i = afterSpace(bytes, i, end);
    }
  }
}
