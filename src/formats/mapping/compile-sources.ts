import type { RejectReason } from '../../decode/reject-reasons.ts';
import { dateTimeNanoseconds, millisecondsOf, nanosecondsOf, type Unit } from './exact-time.ts';
import { Fault, shown } from './fault.ts';
import type { Condition, DurationSource, Source, TimeSource } from './mapping-schema.ts';
import { type Path, parsePath, valueAt } from './path.ts';

/** Reads something from an object; undefined if it is absent. */
export type Getter<Value> = (root: unknown) => Value | undefined;

/** A value that is there, and the path at which it was found as the mapping writes it. */
export interface Found {
  readonly value: unknown;
  readonly at: string;
}

/** Kinds of fields, as the contract of an event knows them. */
export type FieldKind = 'text' | 'flag' | 'amount' | 'any';

/** Longest text that a pattern is applied to: longer ones are cut. */
const longestMatched = 4_096;

export function listOf<Item>(given: Item | readonly Item[]): readonly Item[] {
  return Array.isArray(given) ? (given as readonly Item[]) : [given as Item];
}

/** Path of a valid mapping. */
export function pathOf(text: string): Path {
  return parsePath(text) as Path;
}

/** The first of several that gives a value. */
function firstOf<Value>(getters: readonly Getter<Value>[]): Getter<Value> {
  return (root) => {
    for (const getter of getters) {
      const value = getter(root);
      if (value !== undefined) return value;
    }
    return undefined;
  };
}

/** Finds the first of the paths with a value. */
export function finder(given: string | readonly string[]): Getter<Found> {
  const paths = listOf(given).map((at) => ({ at, path: pathOf(at) }));
  return (root) => {
    for (const { at, path } of paths) {
      const value = valueAt(root, path);
      if (value !== undefined) return { value, at };
    }
    return undefined;
  };
}

export function conditionsOf(given: readonly Condition[] | undefined): (root: unknown) => boolean {
  const conditions = (given ?? []).map(({ path, equals }) => ({ path: pathOf(path), equals }));
  return (root) =>
    conditions.every(({ path, equals }) => {
      const value = valueAt(root, path);
      return equals === undefined ? value !== undefined : value === equals;
    });
}

/** Compiles where a field that is no time comes from. */
export function fieldOf(
  given: Source | readonly Source[],
  kind: FieldKind,
  reason: RejectReason,
): Getter<string | number | boolean> {
  return firstOf(
    listOf(given).map((source) => {
      if (typeof source === 'object' && 'value' in source) return () => source.value;
      const { path, pattern } =
        typeof source === 'string' ? { path: source, pattern: undefined } : source;
      const find = finder(path);
      const expression = pattern === undefined ? undefined : new RegExp(pattern);
      return (root: unknown) => {
        const found = find(root);
        if (found === undefined) return undefined;
        if (expression === undefined) return converted(found, kind, reason);
        if (typeof found.value !== 'string') throw wrong(found, 'a text', reason);
        const part = expression.exec(found.value.slice(0, longestMatched))?.[1];
        return part === undefined || part === ''
          ? undefined
          : converted({ value: part, at: found.at }, kind, reason);
      };
    }),
  );
}

function wrong({ value, at }: Found, what: string, reason: RejectReason): Fault {
  return new Fault(reason, `"${at}" must be ${what}: it is ${shown(value)}`);
}

/** A number counts as a text, such as a version 3, and a text with a number as a number. */
function converted(found: Found, kind: FieldKind, reason: RejectReason): string | number | boolean {
  const { value } = found;
  if (kind === 'any') {
    if (typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean')
      return value;
    throw wrong(found, 'a text, a number, true or false', reason);
  }
  if (kind === 'flag') {
    if (typeof value !== 'boolean') throw wrong(found, 'true or false', reason);
    return value;
  }
  if (kind === 'text') {
    if (typeof value !== 'string' && typeof value !== 'number') {
      throw wrong(found, 'a text', reason);
    }
    return String(value);
  }
  const isNumber =
    typeof value === 'number' || (typeof value === 'string' && /^\d{1,15}(\.\d+)?$/.test(value));
  if (!isNumber) throw wrong(found, 'a number', reason);
  return Number(value);
}

/** Compiles where a time comes from, to nanoseconds since the epoch. */
export function timeOf(given: TimeSource | readonly TimeSource[]): Getter<bigint> {
  return firstOf(
    listOf(given).map(({ path, unit }) => {
      const find = finder(path);
      return (root: unknown) => {
        const found = find(root);
        if (found === undefined) return undefined;
        const { value } = found;
        const dateTime = typeof value === 'string' ? dateTimeNanoseconds(value) : undefined;
        const time = dateTime ?? (unit === undefined ? undefined : nanosecondsOf(value, unit));
        if (time !== undefined) return time;
        const form = 'an RFC 3339 date-time';
        throw wrong(found, unit === undefined ? form : `a number (${unit}) or ${form}`, 'bad_ts');
      };
    }),
  );
}

/** Compiles where a duration comes from, to nanoseconds. */
export function durationOf(given: DurationSource | readonly DurationSource[]): Getter<bigint> {
  return firstOf(
    listOf(given).map(({ path, unit, sum }) => {
      const find = finder(path);
      return (root: unknown) => {
        const found = find(root);
        if (found === undefined) return undefined;
        return sum === true && typeof found.value === 'string'
          ? sumOf(found, found.value, unit)
          : nanosecondsIn(found, unit);
      };
    }),
  );
}

/** Compiles where a list of durations comes from, to milliseconds. */
export function listOfDurations({
  path,
  unit,
}: Pick<DurationSource, 'path' | 'unit'>): Getter<readonly number[]> {
  const find = finder(path);
  return (root) => {
    const found = find(root);
    if (found === undefined) return undefined;
    if (!Array.isArray(found.value)) throw wrong(found, 'a list', 'bad_duration');
    return found.value.map((value: unknown, i) =>
      millisecondsOf(nanosecondsIn({ value, at: `${found.at}[${i}]` }, unit)),
    );
  };
}

/** Nanoseconds of a duration that was found. */
export function nanosecondsIn(found: Found, unit: Unit): bigint {
  const nanoseconds = nanosecondsOf(found.value, unit);
  if (nanoseconds === undefined) throw wrong(found, `a number (${unit})`, 'bad_duration');
  if (nanoseconds < 0n) throw wrong(found, 'a number >= 0', 'bad_duration');
  return nanoseconds;
}

/** Sum of a list in a text; undefined if no item has a value. nginx puts " : " between its servers' groups. */
function sumOf({ at }: Found, text: string, unit: Unit): bigint | undefined {
  const items = text.split(/[,:]/).map((item) => item.trim());
  const values = items.filter((item) => item !== '-' && item !== '');
  if (values.length === 0) return undefined;
  return values.reduce((sum, value) => sum + nanosecondsIn({ value, at }, unit), 0n);
}

/** Time from one moment to another. */
export function between(start: bigint, end: bigint, what: string): bigint {
  if (end >= start) return end - start;
  const early = millisecondsOf(start - end);
  throw new Fault('ends_before_start', `${what} must not end before it starts: ${early} ms`);
}
