import type { Status } from '../../../base/statuses.ts';
import { objectOf, parsed } from '../../loose-json.ts';
import type { AttributeValue } from '../../span.ts';
import { type AskedNames, errorType, firstMember, spanName } from './asked-names.ts';
import { type SpanValues, valueKinds } from './span-values.ts';

/** Source of a value that no source has. */
export const absent = 1 << 20;
/** Status code of a span that failed. */
const errorCode = 2;

/** Says what the compiled sources of `AskedNames` give of the span at hand. */
export class SourceValues {
  readonly #names: AskedNames;
  readonly #values: SpanValues;

  constructor(names: AskedNames, values: SpanValues) {
    this.#names = names;
    this.#values = values;
  }

  /** Returns the first of the sources that has a text which is not empty; `absent` without one. */
  withText(sources: Int32Array): number {
    for (let i = 0; i < sources.length; i++) {
      const source = sources[i] as number;
      if (isAttribute(source)) {
        if (this.#values.hasText(source)) return source;
      } else {
        const value = this.#otherValue(source);
        if (typeof value === 'string' && value !== '') return source;
      }
    }
    return absent;
  }

  /** Returns the first of the sources that is a text and not empty. */
  textOf(sources: Int32Array): string | undefined {
    for (let i = 0; i < sources.length; i++) {
      const source = sources[i] as number;
      if (isAttribute(source)) {
        if (this.#values.hasText(source)) return this.#values.textOf(source);
      } else {
        const value = this.#otherValue(source);
        if (typeof value === 'string' && value !== '') return value;
      }
    }
    return undefined;
  }

  /** Returns the first of the sources that is a number; NaN without one. */
  numberOf(sources: Int32Array): number {
    for (let i = 0; i < sources.length; i++) {
      const source = sources[i] as number;
      if (isAttribute(source)) {
        if (this.#values.kindOf(source) === valueKinds.number) return this.#values.numberOf(source);
      } else {
        const value = this.#otherValue(source);
        if (typeof value === 'number') return value;
      }
    }
    return Number.NaN;
  }

  /** Returns the first of the sources as text, and without a text the first number. */
  shownOf(sources: Int32Array): string | undefined {
    if (sources.length === 0) return undefined;
    return this.textOf(sources) ?? orAbsent(this.numberOf(sources))?.toString();
  }

  /** Returns how the request ended, by the span's status and its error or exception. */
  status(): Status {
    const values = this.#values;
    const isFailed = values.statusCode === errorCode;
    const kind = values.kindOf(errorType);
    if (kind === valueKinds.none || (kind === valueKinds.text && !values.hasText(errorType))) {
      return isFailed ? statusOfCause(values.exceptionType() ?? '') : 'ok';
    }
    return statusOfCause(String(valueAt(values, errorType)));
  }

  /** Returns the value of a source that is no attribute of the span. */
  #otherValue(source: number): unknown {
    if (source < 0) return this.#values.resourceValue(~source);
    if (source === spanName) return this.#values.name;
    const { key, member } = this.#names.members[source - firstMember] as AskedNames['members'][0];
    if (!this.#values.hasText(key)) return undefined;
    const object = objectOf(parsed(this.#values.textOf(key)));
    return object !== undefined && Object.hasOwn(object, member) ? object[member] : undefined;
  }
}

const isAttribute = (source: number) => source >= 0 && source < spanName;

/** Returns a number; undefined for NaN. */
export const orAbsent = (value: number) => (Number.isNaN(value) ? undefined : value);

/** Returns the value of an attribute; undefined without one. */
export function valueAt(values: SpanValues, key: number): AttributeValue | undefined {
  const kind = values.kindOf(key);
  if (kind === valueKinds.none) return undefined;
  if (kind === valueKinds.text) return values.textOf(key);
  return kind === valueKinds.bool ? values.numberOf(key) !== 0 : values.numberOf(key);
}

/** Names of errors that are a time limit or the caller's own doing, in any language and library. */
const timeout = /time[-_ ]?d?[-_ ]?out|deadline[-_ ]?exceeded|^(408|504)$/i;
const cancelled = /cancel|abort/i;

/** Returns the status of a failed span by what its error is called. */
function statusOfCause(cause: string): Status {
  if (timeout.test(cause)) return 'timeout';
  return cancelled.test(cause) ? 'cancelled' : 'error';
}
