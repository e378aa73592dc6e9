import type { StateArchive } from '../baseline/state-archive.ts';
import { StateReader } from '../baseline/state-reader.ts';
import { UnreadableState } from '../baseline/unreadable-state.ts';

/** Part of a detector's state: of a series, a model, a drift, or what they share, which is the last. */
export interface StatePart {
  readonly name: string;
  readonly bytes: Buffer;
}

/**
 * Names of parts: what all share, what is of a model's traffic, and of a series' drift. Those of series are
 * their keys.
 */
export const sharedPart = 'shared';
export const modelPart = (model: string) => `model ${model}`;
export const driftPart = (key: string) => `drift ${key}`;

/** Takes a part to its end; its name. */
export function readPart(
  parts: ReadonlyMap<string, Buffer>,
  name: string,
  carry: (part: StateArchive) => void,
): string {
  const reader = new StateReader(partOf(parts, name));
  carry(reader);
  reader.end();
  return name;
}

export function partOf(parts: ReadonlyMap<string, Buffer>, name: string): Buffer {
  const bytes = parts.get(name);
  if (bytes === undefined) throw new UnreadableState(`its part ${name} is missing`);
  return bytes;
}
