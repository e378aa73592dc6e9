/** An error in compressed bytes. Its message completes the sentence "The batch must …". */
export class InflateError extends Error {
  override readonly name = 'InflateError';
}
