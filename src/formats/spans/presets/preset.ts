import type { AttributeValue } from '../../span.ts';

/**
 * Source of a field: the name of an attribute; `resource:NAME`, one of the resource; or `span:name`, the name
 * of the span; or `NAME#MEMBER`, a member of the JSON object that an attribute has as text.
 */
export type Source = string;

/** Source of a duration: an attribute in a unit, or the time of the first event of a name. */
export type DurationSource =
  | { readonly attribute: string; readonly unitMs: number }
  | { readonly event: string };

/** Sign of a span: an attribute, one with certain values, or its name. */
export interface Mark {
  /** `resource:` and `#` are not for marks. */
  readonly attribute?: string;
  readonly values?: readonly AttributeValue[];
  readonly valueEndsWith?: readonly string[];
  readonly name?: RegExp;
}

/** Kinds of calls to a model. A call inside of one of the same kind is that call, traced again. */
export const callKinds = ['generation', 'embedding', 'ranking'] as const;
export type CallKind = (typeof callKinds)[number];

/**
 * Rules that make a span a timing event. In lists of sources the first that a span has counts. A preset knows
 * a span if it has all marks of one of the lists in `knows`.
 */
export interface Preset {
  readonly name: string;
  readonly knows: readonly (readonly Mark[])[];
  /** Marks of which a known span needs any to be an event; others are skipped by intent. Absent: none. */
  readonly counts?: readonly Mark[];
  /** Calls that ask for something else than a generation: each kind by any of its marks. */
  readonly kinds?: Readonly<Partial<Record<CallKind, readonly Mark[]>>>;
  readonly model: readonly Source[];
  /** Asked after those of any preset. */
  readonly version?: readonly Source[];
  readonly id?: readonly Source[];
  readonly requestType?: readonly Source[];
  /** Names of attributes with a number. */
  readonly inputTokens: readonly string[];
  readonly outputTokens: readonly string[];
  /** Absent, or none of them there: the span's own duration. */
  readonly total?: readonly DurationSource[];
  readonly stages: Readonly<Record<string, readonly DurationSource[]>>;
  /** Names of events, one for each token or chunk that arrived: gaps are between these. */
  readonly gaps?: readonly string[];
}

/** Returns the source of a duration that an attribute gives in seconds. */
export const seconds = (attribute: string): DurationSource => ({ attribute, unitMs: 1000 });

/** Returns the source of a duration that an attribute gives in milliseconds. */
export const milliseconds = (attribute: string): DurationSource => ({ attribute, unitMs: 1 });

/** Sources of the texts of an event: those of a preset, and those that all share. */
export function textSources(preset: Preset) {
  return {
    service: ['resource:service.name'],
    model: preset.model,
    version: ['ml.model.version', 'resource:ml.model.version', ...(preset.version ?? [])],
    request_type: preset.requestType ?? [],
    region: ['resource:cloud.region'],
    host: ['resource:host.name', 'resource:k8s.pod.name'],
    tenant: ['tenant.id', 'resource:tenant.id'],
    id: preset.id ?? [],
  } satisfies Readonly<Record<string, readonly Source[]>>;
}
