import type { SeededRandom } from '../../base/seeded-random.ts';

/** An Avro schema, a value of it as avsc takes it, and the value as the reader must give it. */
export interface AvroCase {
  readonly schema: unknown;
  readonly value: unknown;
  readonly expected: unknown;
}

const symbols = ['OK', 'ERROR', 'TIMEOUT'];
const names = ['a', 'b', 'constructor', 'return', 'f1', '_x'];

/** Makes schemas with values. Each named type has a name of its own. */
export class RandomAvro {
  readonly #random: SeededRandom;
  #named = 0;

  constructor(random: SeededRandom) {
    this.#random = random;
  }

  record(depth = 3): AvroCase {
    const name = this.#name();
    const fields = names.filter(() => this.#random.chance(0.6));
    const cases = fields.map((field) => [field, this.any(depth - 1)] as const);
    return {
      schema: {
        type: 'record',
        name,
        fields: cases.map(([field, { schema }]) => ({ name: field, type: schema })),
      },
      value: ownOf(cases.map(([field, { value }]) => [field, value])),
      expected: ownOf(cases.map(([field, { expected }]) => [field, expected])),
    };
  }

  any(depth: number): AvroCase {
    const kinds = ['null', 'boolean', 'int', 'long', 'float', 'double', 'string', 'bytes'];
    if (depth > 0) kinds.push('record', 'array', 'map', 'union', 'record', 'array', 'union');
    kinds.push('enum', 'fixed');
    return this.#of(this.#random.pick(kinds), depth);
  }

  #of(kind: string, depth: number): AvroCase {
    const random = this.#random;
    const plain = (value: unknown, expected = value): AvroCase => ({
      schema: random.chance(0.5) ? kind : { type: kind },
      value,
      expected,
    });
    switch (kind) {
      case 'null':
        return plain(null);
      case 'boolean':
        return plain(random.chance(0.5));
      case 'int':
        return plain(random.between(-(2 ** 31), 2 ** 31 - 1));
      case 'long':
        return this.#long();
      case 'float':
        return plain(Math.fround(random.unit() * 1e6));
      case 'double':
        return plain(random.unit() * 1e300);
      case 'string':
        return plain(this.#text());
      case 'bytes':
        return this.#bytes(random.between(0, 40));
      case 'fixed':
        return this.#fixed(random.between(0, 20));
      case 'enum': {
        const value = random.pick(symbols);
        return { schema: { type: 'enum', name: this.#name(), symbols }, value, expected: value };
      }
      default:
        return this.#composite(kind, depth);
    }
  }

  #composite(kind: string, depth: number): AvroCase {
    const random = this.#random;
    if (kind === 'record') return this.record(depth);
    if (kind === 'union') return this.#union(depth);
    const item = this.any(depth - 1);
    const count = random.between(0, 5);
    if (kind === 'array') {
      const list = (value: unknown) => Array(count).fill(value);
      const schema = { type: 'array', items: item.schema };
      return { schema, value: list(item.value), expected: list(item.expected) };
    }
    const keys = Array.from({ length: count }, (_, i) => `${this.#text()}${i}`);
    const map = (value: unknown) => ownOf(keys.map((key) => [key, value]));
    const schema = { type: 'map', values: item.schema };
    return { schema, value: map(item.value), expected: map(item.expected) };
  }

  /** avsc wraps the value of a union in an object with the name of its branch. */
  #union(depth: number): AvroCase {
    const chosen = this.#random.chance(0.5) ? this.record(depth - 1) : this.#of('string', 0);
    const { schema, expected } = chosen;
    const name = typeof schema === 'string' ? schema : this.#branchOf(schema as { name?: string });
    if (this.#random.chance(0.3)) {
      return { schema: ['null', schema], value: null, expected: null };
    }
    return { schema: [schema, 'null', 'double'], value: { [name]: chosen.value }, expected };
  }

  #branchOf({ name, type }: { readonly name?: string; readonly type?: string }): string {
    return name ?? type ?? '';
  }

  #long(): AvroCase {
    const random = this.#random;
    const isLarge = random.chance(0.3);
    const value = isLarge
      ? BigInt.asIntN(64, (BigInt(random.between(0, 2 ** 31)) << 33n) ^ 0x1234_5678n)
      : BigInt(random.between(-(2 ** 52), 2 ** 52));
    const isExact = value > -(2n ** 53n) && value < 2n ** 53n;
    return { schema: 'long', value, expected: isExact ? Number(value) : String(value) };
  }

  #bytes(length: number): AvroCase {
    const value = Buffer.from(Array.from({ length }, () => this.#random.between(0, 255)));
    return { schema: 'bytes', value, expected: value.toString('hex') };
  }

  #fixed(size: number): AvroCase {
    const { value, expected } = this.#bytes(size);
    return { schema: { type: 'fixed', name: this.#name(), size }, value, expected };
  }

  #text(): string {
    return this.#random.pick([
      '',
      'ranker',
      'größe',
      '日本',
      '__proto__',
      '\uFFFD',
      '🙂',
      'x'.repeat(70),
    ]);
  }

  #name(): string {
    return `N${this.#named++}`;
  }
}

/** An object with exactly these keys of its own, `__proto__` among them. */
function ownOf(entries: readonly (readonly [string, unknown])[]): object {
  return Object.fromEntries(entries);
}
