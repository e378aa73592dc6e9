import { readFileSync } from 'node:fs';

/** A trace of nine spans as the collector wrote it: a message for each of its three services. */
const recorded = 'test/fixtures/formats/kafka/otlp_spans_keyed.jsonl';

/** Returns a maker of the messages of the n-th request, which differ by their trace id. */
export function spanMessages(): (n: number) => Buffer[] {
  const lines = readFileSync(recorded, 'utf8').trim().split('\n');
  const records = lines.map((line) => JSON.parse(line) as { key: string; value_b64: string });
  const { key } = records[0] ?? { key: '' };
  const id = Buffer.from(key, 'hex');
  const templates = records
    .filter((record) => record.key === key)
    .map(({ value_b64: base64 }) => Buffer.from(base64, 'base64'));
  const places = templates.map((template) => {
    const found: number[] = [];
    for (let at = template.indexOf(id); at >= 0; at = template.indexOf(id, at + 1)) found.push(at);
    return found;
  });
  return (n) =>
    templates.map((template, i) => {
      const message = Buffer.from(template);
      // The first half counts, the second is mixed: ids are as different as real ones.
      for (const at of places[i] ?? []) {
        message.writeUInt32BE(Math.imul(n + 1, 0x9e3779b1) >>> 0, at);
        message.writeUInt32BE(n + 1, at + 4);
      }
      return message;
    });
}
