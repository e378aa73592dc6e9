import { coldStartIndex } from '../base/dimensions.ts';
import { eventFields, fieldKinds } from './event-fields.ts';
import { KeyMatcher } from './json/key-matcher.ts';
import type { Pattern } from './json/pattern.ts';
import type { Shape } from './json/shape.ts';

/** How the kernel reads a value; kernel/event-kernel.ts has the same numbers. */
const valueKinds = {
  end: 0,
  stage: 1,
  number: 2,
  total: 3,
  ts: 4,
  dimension: 5,
  label: 6,
  status: 7,
  flag: 8,
  unknown: 9,
} as const;

/** Places of numbers: ts, total, the facets from the third on, and one that nobody reads. */
const tsPlace = 0;
const totalPlace = 1;
const firstFacet = 2;
const unreadPlace = 6;
/** Flags by their distance from the kernel's integers, in bytes. */
const cacheHitOffset = 4;
const partialOffset = 8;
const coldStartOffset = 64 + coldStartIndex * 4;

const headBytes = 16;
const blockBytes = 16;

/**
 * A shape of events as the kernel reads it: for each value, what lies before it, and what it is.
 *
 *     kind u16 · place u16 · length of the literal u16 · blocks u16 · 8 bytes that are not used
 *     and for each block of the literal 16 bytes of it and 16 of mask
 */
export class EventProgram {
  readonly bytes: Uint8Array;

  constructor(bytes: Uint8Array) {
    this.bytes = bytes;
  }

  /**
   * Of an event's shape, and that of its stages if it has any (undefined: none were met in their
   * shape). Answers undefined where it would be longer than `maxBytes`.
   */
  static of(event: Shape, stages: Shape, maxBytes: number): EventProgram | undefined {
    const writer = new ProgramWriter();
    for (let n = 0; n < event.count; n++) {
      const step = event.step(n);
      const field = step.id === KeyMatcher.unknown ? undefined : eventFields[step.id];
      if (field?.kind === fieldKinds.stagesMs) {
        writer.literal(step);
        for (let i = 0; i < stages.count; i++) {
          writer.literal(stages.step(i));
          writer.value(valueKinds.stage, stages.step(i).id);
        }
        writer.text('}');
      } else {
        writer.literal(step);
        const [kind, place] = kindAndPlace(field?.kind, field?.slot ?? 0);
        writer.value(kind, place);
      }
    }
    writer.text('}');
    writer.value(valueKinds.end, 0);
    const bytes = writer.finish();
    return bytes.length > maxBytes ? undefined : new EventProgram(bytes);
  }
}

function kindAndPlace(kind: number | undefined, slot: number): readonly [number, number] {
  switch (kind) {
    case undefined:
      return [valueKinds.unknown, 0];
    case fieldKinds.ts:
      return [valueKinds.ts, tsPlace];
    case fieldKinds.dimension:
      return [valueKinds.dimension, slot];
    case fieldKinds.id:
      return [valueKinds.label, 0];
    case fieldKinds.traceId:
      return [valueKinds.label, 1];
    case fieldKinds.status:
      return [valueKinds.status, 0];
    case fieldKinds.amount:
      return [valueKinds.number, slot < 0 ? unreadPlace : firstFacet + slot];
    case fieldKinds.totalMs:
      return [valueKinds.total, totalPlace];
    case fieldKinds.coldStart:
      return [valueKinds.flag, coldStartOffset];
    case fieldKinds.cacheHit:
      return [valueKinds.flag, cacheHitOffset];
    default:
      return [valueKinds.flag, partialOffset];
  }
}

class ProgramWriter {
  readonly #parts: Buffer[] = [];
  /** What lies before the next value. */
  #literal = Buffer.alloc(0);

  text(text: string): void {
    this.#literal = Buffer.concat([this.#literal, Buffer.from(text)]);
  }

  literal(pattern: Pattern): void {
    this.#literal = Buffer.concat([this.#literal, pattern.toBytes()]);
  }

  value(kind: number, place: number): void {
    const { length } = this.#literal;
    const blocks = Math.ceil(length / blockBytes);
    const part = Buffer.alloc(headBytes + blocks * 2 * blockBytes);
    part.writeUInt16LE(kind, 0);
    part.writeUInt16LE(place, 2);
    part.writeUInt16LE(length, 4);
    part.writeUInt16LE(blocks, 6);
    for (let n = 0; n < blocks; n++) {
      const at = headBytes + n * 2 * blockBytes;
      const block = this.#literal.subarray(n * blockBytes, (n + 1) * blockBytes);
      block.copy(part, at);
      part.fill(0xff, at + blockBytes, at + blockBytes + block.length);
    }
    this.#parts.push(part);
    this.#literal = Buffer.alloc(0);
  }

  finish(): Uint8Array {
    return Buffer.concat(this.#parts);
  }
}
