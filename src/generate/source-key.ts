/** The message key of whoever sent an event: what one host says of one model keeps its order. */
export function sourceKey(model: string, host: string): string {
  return `${model}|${host}`;
}
