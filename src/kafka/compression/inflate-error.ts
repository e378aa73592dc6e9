/** Compressed bytes that cannot be taken. The message goes on "The batch must …". */
export class InflateError extends Error {
  override readonly name = 'InflateError';
}
