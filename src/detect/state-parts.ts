import type { StateArchive } from '../snapshot/archive.ts';
import { StateReader } from '../snapshot/archive-reader.ts';
import { UnreadableState } from '../snapshot/unreadable-state.ts';

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

/** Takes the parts of a state, in any order, once the one that is shared is known. Holds none of them. */
export class StateLoading {
  readonly #carriers: Map<string, (part: StateArchive) => void>;
  readonly #finish: () => void;

  /**
   * @param carriers by the names of the parts that there must be.
   * @param finish is called when all are there.
   */
  constructor(carriers: Map<string, (part: StateArchive) => void>, finish: () => void) {
    this.#carriers = carriers;
    this.#finish = finish;
  }

  /** @throws UnreadableState when the part is not of this state, is cut off, or came before. */
  load({ name, bytes }: StatePart): void {
    const serialize = this.#carriers.get(name);
    if (serialize === undefined)
      throw new UnreadableState(`its part ${name} is not one of its own`);
    this.#carriers.delete(name);
    readable(name, () => {
      const reader = new StateReader(bytes);
      serialize(reader);
      reader.end();
    });
  }

  /** No more parts come. @throws UnreadableState when one is missing. */
  end(): void {
    for (const name of this.#carriers.keys()) throw missing(name);
    readable(sharedPart, this.#finish);
  }
}

export function partOf(parts: ReadonlyMap<string, Buffer>, name: string): Buffer {
  const bytes = parts.get(name);
  if (bytes === undefined) throw missing(name);
  return bytes;
}

/** Whatever goes wrong with bytes that are there, they are of no use. */
export function readable<T>(name: string, read: () => T): T {
  try {
    return read();
  } catch (error) {
    if (error instanceof UnreadableState) throw error;
    const { message } = error as Error;
    throw new UnreadableState(`its part ${name} cannot be read: ${message}`, { cause: error });
  }
}

function missing(name: string): UnreadableState {
  return new UnreadableState(`its part ${name} is missing`);
}
