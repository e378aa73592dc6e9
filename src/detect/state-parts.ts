import { type StateArchive, UnreadableState } from '../snapshot/archive.ts';
import { StateReader } from '../snapshot/archive-reader.ts';

/** Part of a detector's state: of a series, a model or a drift; the shared part comes last. */
export interface StatePart {
  readonly name: string;
  readonly bytes: Buffer;
}

/** Names of parts: the shared one, a model's traffic, a series' drift. A series' part is named by its key. */
export const sharedPart = 'shared';
export const modelPart = (model: string) => `model ${model}`;
export const driftPart = (key: string) => `drift ${key}`;

/** Loads the parts of a snapshot in any order, once the shared part is read. It holds none of them. */
export class StateLoading {
  readonly #loaders: Map<string, (part: StateArchive) => void>;
  readonly #finish: () => void;

  /** @param loaders by the names of the parts that must come. */
  constructor(loaders: Map<string, (part: StateArchive) => void>, finish: () => void) {
    this.#loaders = loaders;
    this.#finish = finish;
  }

  /** @throws UnreadableState when the part is not of this state, is truncated, or came before. */
  load({ name, bytes }: StatePart): void {
    const serialize = this.#loaders.get(name);
    if (serialize === undefined)
      throw new UnreadableState(`its part ${name} is not one of its own`);
    this.#loaders.delete(name);
    readable(name, () => {
      const reader = new StateReader(bytes);
      serialize(reader);
      reader.end();
    });
  }

  /** Ends the load. @throws UnreadableState when a part is missing. */
  end(): void {
    const [missing] = this.#loaders.keys();
    if (missing !== undefined) throw new UnreadableState(`its part ${missing} is missing`);
    readable(sharedPart, this.#finish);
  }
}

/** Turns every error of `read` into an `UnreadableState`. */
export function readable<T>(name: string, read: () => T): T {
  try {
    return read();
  } catch (error) {
    if (error instanceof UnreadableState) throw error;
    const { message } = error as Error;
    throw new UnreadableState(`its part ${name} cannot be read: ${message}`, { cause: error });
  }
}
