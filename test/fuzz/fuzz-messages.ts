import { mulberry32 } from '../base/seeded-random.ts';
import { randomEvent } from '../decode/random-event.ts';

/** Texts that parsers have stumbled over. */
const tokens = [
  '{',
  '}',
  '[',
  ']',
  ',',
  ':',
  '"',
  '\\',
  '\n',
  '\r\n',
  ' ',
  '\u0000',
  '\ufeff',
  'null',
  'true',
  'NaN',
  '-',
  '-0',
  '1e999',
  '1e-999',
  '0.1e+',
  '9007199254740993',
  '1'.repeat(400),
  '\\u',
  '\\ud800',
  '"__proto__"',
  '"constructor":',
  '"__other__"',
  '"total"',
  '"stages_ms":{',
  '"ts":',
  '"model":',
  '{"a":'.repeat(70),
  '['.repeat(70),
  '}'.repeat(5),
  '"partial":true',
  '\u2028',
  '\\"',
].map((text) => Buffer.from(text));
const bases = 40;
/** Messages in a row whose events are all of one shape, as those of a topic are. */
const stretch = 100;
/** What one value is replaced by. */
const values = ['0', '7.25', '"v9"', '"größe"', 'true', 'null', '1e3', '12345678901234567.5', '{}'];

/**
 * Messages made of seeded events by grammar and mutation: whole events in every framing, then
 * bytes flipped, spans cut, doubled, swapped and replaced by what parsers stumble over.
 */
export class FuzzMessages {
  readonly random: () => number;
  readonly #events: readonly string[];
  #count = 0;
  #alike = '';

  constructor(seed: number) {
    this.random = mulberry32(seed);
    this.#events = Array.from({ length: bases }, () => randomEvent(this.random));
  }

  next(): Buffer {
    const { random } = this;
    if (this.#count++ % stretch === 0) {
      this.#alike = random() < 0.5 ? '' : (this.#events[this.#below(bases)] as string);
    }
    if (random() < 0.01) return this.noise(Math.floor(random() * 200));
    const count = random() < 0.6 ? 1 : 1 + Math.floor(random() * 6);
    const events = Array.from({ length: count }, () =>
      this.#alike === '' ? (this.#events[this.#below(bases)] as string) : this.#revalued(),
    );
    const message = Buffer.from(this.#framed(events));
    return random() < 0.25 ? message : this.mutate(message);
  }

  /** An event of the shape that all have at this time, with a value of its own. */
  #revalued(): string {
    const places = [...this.#alike.matchAll(/-?[\d.]+|"[^"]*"(?!\s*:)|true|false|null/g)];
    const place = places[this.#below(places.length)];
    if (place === undefined || this.random() < 0.3) return this.#alike;
    const value =
      this.random() < 0.5 ? String(this.random() * 1_000) : values[this.#below(values.length)];
    const end = place.index + place[0].length;
    return `${this.#alike.slice(0, place.index)}${value}${this.#alike.slice(end)}`;
  }

  /** One to eight mutations. */
  mutate(bytes: Buffer): Buffer {
    let mutated: Buffer = Buffer.from(bytes);
    const times = 1 + Math.floor(this.random() ** 3 * 8);
    for (let i = 0; i < times; i++) mutated = this.#mutateOnce(mutated);
    return mutated;
  }

  noise(length: number): Buffer {
    return Buffer.from(Array.from({ length }, () => this.#below(256)));
  }

  #framed(events: readonly string[]): string {
    const kind = this.random();
    if (kind < 0.5) return events.join('\n');
    if (kind < 0.6) return events.join('');
    if (kind < 0.7) return `\ufeff${events.join('\r\n')}\r\n`;
    return `[${events.join(kind < 0.8 ? ',' : ' ,\n')}]`;
  }

  #mutateOnce(bytes: Buffer): Buffer {
    const at = this.#below(bytes.length + 1);
    const end = Math.min(bytes.length, at + this.#below(1 + this.#below(40)));
    const before = bytes.subarray(0, at);
    const after = bytes.subarray(end);
    switch (this.#below(7)) {
      case 0: {
        const flipped = Buffer.from(bytes);
        if (at < flipped.length) flipped[at] = (flipped[at] as number) ^ (1 << this.#below(8));
        return flipped;
      }
      case 1:
        return Buffer.concat([before, after]);
      case 2:
        return Buffer.concat([before, bytes.subarray(at, end), bytes.subarray(at, end), after]);
      case 3:
        return Buffer.concat([before, tokens[this.#below(tokens.length)] as Buffer, after]);
      case 4:
        return Buffer.from(before);
      case 5:
        return Buffer.concat([before, this.noise(this.#below(5)), after]);
      default:
        return Buffer.concat([after, before]);
    }
  }

  #below(limit: number): number {
    return Math.floor(this.random() * limit);
  }
}
