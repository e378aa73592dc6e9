import type { Status } from '../../base/statuses.ts';
import { type Found, finder, type Getter, listOf } from './compile-sources.ts';
import { Fault, shown } from './fault.ts';
import type { StatusRule } from './mapping-schema.ts';

const range = /^(>=|<=|>|<)\s*(\d+(?:\.\d+)?)$/;
const codeClass = /^([1-9])xx$/;

/** Compiles how a request ended; the contract takes an absent status for `ok`. */
export function statusOf(given: StatusRule | readonly StatusRule[]): Getter<Status> {
  const rules = listOf(given).map((rule) => ({ find: finder(rule.path), answer: answerOf(rule) }));
  return (root) => {
    let unknown: Found | undefined;
    for (const { find, answer } of rules) {
      const found = find(root);
      if (found === undefined) continue;
      const status = answer(found.value);
      if (status !== undefined) return status;
      unknown = found;
    }
    if (unknown === undefined) return undefined;
    const { at, value } = unknown;
    throw new Fault(
      'bad_status',
      `"${at}" must be a value that the mapping knows: it is ${shown(value)}`,
    );
  };
}

function answerOf({ map, otherwise }: StatusRule): (value: unknown) => Status | undefined {
  const exact = new Map(Object.entries(map));
  const ranges = [...exact].flatMap(([key, status]) => {
    const holds = rangeOf(key);
    return holds === undefined ? [] : [{ holds, status }];
  });
  return (value) => {
    if (typeof value === 'object') return undefined;
    const direct = exact.get(String(value));
    if (direct !== undefined) return direct;
    const number = typeof value === 'string' && value.trim() === '' ? Number.NaN : Number(value);
    return ranges.find(({ holds }) => holds(number))?.status ?? otherwise;
  };
}

/** Range that a key of the map means; undefined for an exact value. */
function rangeOf(key: string): ((number: number) => boolean) | undefined {
  const hundreds = codeClass.exec(key)?.[1];
  if (hundreds !== undefined) return (number) => Math.floor(number / 100) === Number(hundreds);
  const [, sign, text] = range.exec(key) ?? [];
  if (sign === undefined) return undefined;
  const bound = Number(text);
  if (sign === '>=') return (number) => number >= bound;
  if (sign === '<=') return (number) => number <= bound;
  return sign === '>' ? (number) => number > bound : (number) => number < bound;
}
