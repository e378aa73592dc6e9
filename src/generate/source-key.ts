/** Builds the message key of an event's source, so events of one host and model keep their order. */
export function sourceKey(model: string, host: string): string {
  return `${model}|${host}`;
}
