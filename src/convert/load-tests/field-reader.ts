import type { RejectReason } from '../../decode/reject-reasons.ts';
import type { FormatReason } from '../../formats/format-reader.ts';

interface Problem {
  readonly reason: RejectReason | FormatReason;
  readonly detail: string;
}

/** A value as details show it: in quotes where it is a text, and cut. */
export function shown(value: unknown): string {
  const text = value === undefined ? 'absent' : (JSON.stringify(value) ?? String(value));
  return text.length > 80 ? `${text.slice(0, 80)}…` : text;
}

/** Reads the fields of one record, and keeps the first problem it meets. */
export class FieldReader {
  readonly #where: string;
  readonly #fieldOf: (name: string) => unknown;
  #problem: Problem | undefined;

  /** @param where begins each detail: "Line 7". */
  constructor(where: string, fieldOf: (name: string) => unknown) {
    this.#where = where;
    this.#fieldOf = fieldOf;
  }

  get problem(): Problem | undefined {
    return this.#problem;
  }

  /** Keeps that a field breaks a rule. */
  fail(reason: RejectReason | FormatReason, name: string, rule: string): void {
    const detail = `${this.#where}: ${name} must ${rule}: it is ${shown(this.#fieldOf(name))}`;
    this.#problem ??= { reason, detail };
  }

  /** Returns a text; an empty one counts as absent. */
  text(name: string): string | undefined {
    const value = this.#fieldOf(name);
    return typeof value === 'string' && value !== '' ? value : undefined;
  }

  /** Returns a number >= 0, or NaN and keeps the problem. */
  number(name: string, reason: RejectReason | FormatReason): number {
    const value = numberOf(this.#fieldOf(name));
    if (value >= 0) return value;
    this.fail(reason, name, 'be a number >= 0');
    return Number.NaN;
  }

  /** Returns a number >= 0 where the field is there. */
  optionalNumber(name: string, reason: RejectReason | FormatReason): number | undefined {
    const value = this.#fieldOf(name);
    if (value === undefined || value === null || value === '') return undefined;
    return this.number(name, reason);
  }

  /** Returns an array of numbers >= 0, or undefined and keeps the problem. */
  numbers(name: string, reason: RejectReason | FormatReason): readonly number[] | undefined {
    const value = this.#fieldOf(name);
    if (Array.isArray(value) && value.every((each) => typeof each === 'number' && each >= 0)) {
      return value;
    }
    this.fail(reason, name, 'be an array of numbers >= 0');
    return undefined;
  }

  /** Returns such an array where the field is there. */
  optionalNumbers(name: string, reason: RejectReason | FormatReason) {
    const value = this.#fieldOf(name);
    return value === undefined || value === null ? undefined : this.numbers(name, reason);
  }

  /** Returns epoch milliseconds of decimal epoch seconds, exactly; fractions of a millisecond are cut. */
  epochSeconds(name: string): number {
    const match = /^(\d{1,12})(?:\.(\d+))?$/.exec(String(this.#fieldOf(name) ?? ''));
    if (match === null) {
      this.fail('bad_ts', name, 'be seconds since 1970');
      return Number.NaN;
    }
    const [, seconds, fraction = ''] = match;
    return Number(seconds) * 1_000 + Number(fraction.slice(0, 3).padEnd(3, '0'));
  }
}

function numberOf(value: unknown): number {
  if (typeof value === 'number') return value;
  const isNumeric = typeof value === 'string' && /^\d+(\.\d+)?([eE][+-]?\d+)?$/.test(value);
  return isNumeric ? Number(value) : Number.NaN;
}
