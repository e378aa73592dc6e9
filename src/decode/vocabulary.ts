import { overflowValue } from '../base/dimensions.ts';
import { invariant } from '../base/invariant.ts';
import type { Interner } from './interner.ts';

const overflowBytes = Buffer.from(overflowValue);

/** Interner with the id of `__other__` for strings beyond its capacity. */
export class Vocabulary {
  readonly interner: Interner;
  #otherId = -1;
  #otherUtf8: Buffer | undefined;

  constructor(interner: Interner) {
    this.interner = interner;
    this.refresh();
  }

  /** Id of `__other__`. */
  get otherId(): number {
    return this.#otherId;
  }

  /**
   * Interns `__other__` again if the interner was cleared; returns true if it was. Called before each
   * message: an interner must not be cleared while a message is decoded.
   */
  refresh(): boolean {
    if (this.#otherId >= 0 && this.interner.utf8(this.#otherId) === this.#otherUtf8) return false;
    this.#otherId = this.interner.intern(overflowBytes, 0, overflowBytes.length);
    invariant(this.#otherId >= 0, 'an interner has no room for __other__');
    this.#otherUtf8 = this.interner.utf8(this.#otherId);
    return true;
  }

  /** Id of `bytes[start, end)`, or of `__other__` if the interner is full. */
  idOf(bytes: Uint8Array, start: number, end: number): number {
    const id = this.interner.intern(bytes, start, end);
    return id >= 0 ? id : this.#otherId;
  }

  /** Id of a string, as `idOf`. */
  idOfText(text: string): number {
    const id = this.interner.internText(text);
    return id >= 0 ? id : this.#otherId;
  }
}
