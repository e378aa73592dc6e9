import type { AttributeValue } from '../span.ts';

/**
 * Where a field comes from: the name of an attribute; `resource:NAME`, one of the resource; or `span:name`,
 * the name of the span; or `NAME#MEMBER`, a member of the JSON object that an attribute has as text.
 */
export type Source = string;

/** Where a duration comes from: an attribute in a unit, or the time of the first event of a name. */
export type DurationSource =
  | { readonly attribute: string; readonly unitMs: number }
  | { readonly event: string };

/** What tells a span: an attribute, one with certain values, or its name. */
export interface Mark {
  /** `resource:` and `#` are not for marks. */
  readonly attribute?: string;
  readonly values?: readonly AttributeValue[];
  readonly valueEndsWith?: readonly string[];
  readonly name?: RegExp;
}

/**
 * Rules that make a span a timing event. In lists of sources the first that a span has counts. A preset knows
 * a span if it has all marks of one of the lists in `knows`.
 */
export interface Preset {
  readonly name: string;
  readonly knows: readonly (readonly Mark[])[];
  /** What a known span needs to be an event, any of them; others are skipped by intent. Absent: nothing. */
  readonly counts?: readonly Mark[];
  readonly model: readonly Source[];
  readonly id?: readonly Source[];
  readonly requestType?: readonly Source[];
  readonly inputTokens: readonly Source[];
  readonly outputTokens: readonly Source[];
  /** Absent, or none of them there: the span's own duration. */
  readonly total?: readonly DurationSource[];
  readonly stages: Readonly<Record<string, readonly DurationSource[]>>;
}

/** Returns the source of a duration that an attribute gives in seconds. */
export const seconds = (attribute: string): DurationSource => ({ attribute, unitMs: 1000 });

/** Returns the source of a duration that an attribute gives in milliseconds. */
export const milliseconds = (attribute: string): DurationSource => ({ attribute, unitMs: 1 });
