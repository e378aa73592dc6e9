/** Messages of so many events each, a line an event: far cheaper than a message for each. */
export function packed(events: readonly object[], perMessage = 50): { readonly value: string }[] {
  return Array.from({ length: Math.ceil(events.length / perMessage) }, (_, n) => {
    const some = events.slice(perMessage * n, perMessage * (n + 1));
    return { value: some.map((event) => JSON.stringify(event)).join('\n') };
  });
}
