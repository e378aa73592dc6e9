import { coldStartIndex } from '../../base/dimensions.ts';
import { type EventField, eventFields, fieldKinds } from '../event-fields.ts';
import { KeyMatcher } from '../json/key-matcher.ts';
import type { Pattern } from '../json/pattern.ts';
import type { Shape } from '../json/shape.ts';

/** Kinds of values, with the numbers of kernel/event-kernel.ts. */
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
  object: 10,
} as const;

/** Indices of numbers: ts, total, and the amounts. */
const tsIndex = 0;
const totalIndex = 1;
export const firstAmountIndex = 2;
/** Flags by their offset from the kernel's integers, in bytes. */
const cacheHitOffset = 4;
const partialOffset = 8;
const coldStartOffset = 64 + coldStartIndex * 4;

const headBytes = 16;
const blockBytes = 16;

/**
 * Compiles the shapes of an event, of its stages and of its milestones (without steps: none were read in their
 * shape) into the kernel's format: for each value, the bytes before it, and its kind. Returns undefined beyond
 * `maxBytes`, and with a weight or gaps between tokens, which few events have.
 *
 *     kind u16 · index u16 · length of the literal u16 · blocks u16 · 8 unused bytes
 *     and for each block of the literal its 16 bytes and 16 bytes of mask
 */
export function compileProgram(
  event: Shape,
  { stages, milestones }: Readonly<Record<'stages' | 'milestones', Shape>>,
  maxBytes: number,
): Uint8Array | undefined {
  const writer = new ProgramWriter();
  for (let n = 0; n < event.count; n++) {
    const step = event.step(n);
    const field = step.id === KeyMatcher.unknown ? undefined : eventFields[step.id];
    if (field?.kind === fieldKinds.weight || field?.kind === fieldKinds.itlMs) return undefined;
    writer.literal(step);
    if (field?.kind === fieldKinds.stagesMs || field?.kind === fieldKinds.milestonesMs) {
      const shape = field.kind === fieldKinds.stagesMs ? stages : milestones;
      for (let i = 0; i < shape.count; i++) {
        writer.literal(shape.step(i));
        writer.value(valueKinds.stage, shape.step(i).id);
      }
      writer.text('}');
    } else {
      writer.value(...kindAndIndex(field));
    }
  }
  writer.text('}');
  writer.value(valueKinds.end, 0);
  const bytes = writer.finish();
  return bytes.length > maxBytes ? undefined : bytes;
}

type KindAndIndex = readonly [kind: number, index: number];

/** Kind and index of the fields without a slot. */
const fixedValues: Readonly<Record<number, KindAndIndex>> = {
  [fieldKinds.ts]: [valueKinds.ts, tsIndex],
  [fieldKinds.id]: [valueKinds.label, 0],
  [fieldKinds.traceId]: [valueKinds.label, 1],
  [fieldKinds.status]: [valueKinds.status, 0],
  [fieldKinds.attributes]: [valueKinds.object, 0],
  [fieldKinds.totalMs]: [valueKinds.total, totalIndex],
  [fieldKinds.coldStart]: [valueKinds.flag, coldStartOffset],
  [fieldKinds.cacheHit]: [valueKinds.flag, cacheHitOffset],
  [fieldKinds.partial]: [valueKinds.flag, partialOffset],
};

function kindAndIndex(field: EventField | undefined): KindAndIndex {
  if (field?.kind === fieldKinds.dimension) return [valueKinds.dimension, field.slot];
  if (field?.kind === fieldKinds.amount) return [valueKinds.number, firstAmountIndex + field.slot];
  return fixedValues[field?.kind ?? -1] ?? [valueKinds.unknown, 0];
}

class ProgramWriter {
  readonly #parts: Buffer[] = [];
  /** Bytes before the next value. */
  #literal = Buffer.alloc(0);

  text(text: string): void {
    this.#literal = Buffer.concat([this.#literal, Buffer.from(text)]);
  }

  literal(pattern: Pattern): void {
    this.#literal = Buffer.concat([this.#literal, pattern.toBytes()]);
  }

  value(kind: number, index: number): void {
    const { length } = this.#literal;
    const blocks = Math.ceil(length / blockBytes);
    const part = Buffer.alloc(headBytes + blocks * 2 * blockBytes);
    part.writeUInt16LE(kind, 0);
    part.writeUInt16LE(index, 2);
    part.writeUInt16LE(length, 4);
    part.writeUInt16LE(blocks, 6);
    for (let n = 0; n < blocks; n++) {
      const offset = headBytes + n * 2 * blockBytes;
      const block = this.#literal.subarray(n * blockBytes, (n + 1) * blockBytes);
      block.copy(part, offset);
      part.fill(0xff, offset + blockBytes, offset + blockBytes + block.length);
    }
    this.#parts.push(part);
    this.#literal = Buffer.alloc(0);
  }

  finish(): Uint8Array {
    return Buffer.concat(this.#parts);
  }
}
