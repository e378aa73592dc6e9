/** Takes bytes off a stream of pieces, as many as are asked for. Holds one more piece than it returns. */
export class ByteStream {
  readonly #pieces: AsyncIterator<Buffer>;
  #rest: Buffer = Buffer.alloc(0);

  constructor(pieces: AsyncIterable<Buffer>) {
    this.#pieces = pieces[Symbol.asyncIterator]();
  }

  /** Returns this number of bytes, or fewer where the stream ends before. */
  async take(count: number): Promise<Buffer> {
    const taken: Buffer[] = [];
    let left = count;
    while (left > this.#rest.length) {
      taken.push(this.#rest);
      left -= this.#rest.length;
      const next = await this.#pieces.next();
      this.#rest = next.done === true ? Buffer.alloc(0) : next.value;
      if (next.done === true) return Buffer.concat(taken);
    }
    taken.push(this.#rest.subarray(0, left));
    this.#rest = this.#rest.subarray(left);
    return taken.length === 1 ? (taken[0] as Buffer) : Buffer.concat(taken);
  }

  /** Lets go of the stream. */
  async close(): Promise<void> {
    await this.#pieces.return?.();
  }
}
