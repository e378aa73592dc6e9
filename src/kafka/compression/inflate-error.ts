/** An error in compressed bytes. Its message completes the sentence "The batch must …". */
export class InflateError extends Error {
  override readonly name = 'InflateError';

  static tooLarge(maxBytes: number): InflateError {
    return new InflateError(`inflate to at most ${maxBytes} bytes: it is larger`);
  }
}
