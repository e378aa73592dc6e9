import { z } from 'zod';
import { isStageName, stageNameRule } from '../../../base/dimensions.ts';
import type { Origin } from '../../format-reader.ts';
import { type Span, spanKinds } from '../../span.ts';
import { type SpanEventSink, unendedReject } from './span-events.ts';
import { defaultFields, type FieldSources, fieldsOf, type NamedSources } from './span-fields.ts';

const text = z.string('must be a text').min(1, 'must not be empty');

const selector = z.union(
  [
    text,
    z.strictObject({
      name: text.optional().meta({ description: 'Name of the span.' }),
      kind: z
        .enum(spanKinds, `must be one of ${spanKinds.join(', ')}`)
        .optional()
        .meta({ description: 'Kind of the span.' }),
      attribute: text.optional().meta({ description: 'Attribute that the span has.' }),
      equals: z
        .union([z.string(), z.number(), z.boolean()])
        .optional()
        .meta({ description: 'Value of the attribute. Left out: any.' }),
    }),
  ],
  { error: 'must be the name of a span, or {name, kind, attribute, equals}' },
);

const selectors = z.array(selector, 'must be a list').min(1, 'must not be an empty list');
const sources = z
  .array(text, 'must be a list')
  .optional()
  .meta({ description: 'Sources of the field: the first that the span has counts.' });

/** Rules that make single spans partial events: each span of a stage, and each root with the total. */
export const spanRulesSchema = z
  .strictObject({
    stages: z
      .record(text, selectors, 'must be a map of stages')
      .superRefine((named, context) => {
        for (const name of Object.keys(named)) {
          if (isStageName(name)) continue;
          context.addIssue({ code: 'custom', path: [name], message: stageNameRule });
        }
      })
      .meta({
        description: 'Spans by stage, by their names or by more. The first that fits counts.',
      }),
    total: selectors.optional().meta({
      description: 'Spans that have the total. Left out: those without a parent.',
    }),
    fields: z
      .strictObject({
        ...(Object.fromEntries(Object.keys(defaultFields).map((name) => [name, sources])) as Record<
          keyof NamedSources,
          typeof sources
        >),
        attributes: z.record(text, sources).optional().meta({
          description: "Sources of the team's own dimensions and facets, by name.",
        }),
      })
      .optional()
      .meta({
        description:
          'Sources of the fields: attributes of the span, resource:NAME, or span:name. Left out: the default ones.',
      }),
  })
  .meta({ title: 'Rules of spans' });

type Selector = z.output<typeof selector>;

/** Compiled rules. */
export interface SpanRules {
  /** Stage of a span, `total` for one that has the total, undefined for any other. */
  roleOf(span: Span): { readonly stage: string } | 'total' | undefined;
  readonly fields: FieldSources;
}

/** Compiles rules that are valid. */
export function compileSpanRules({
  stages,
  total,
  fields = {},
}: z.output<typeof spanRulesSchema>): SpanRules {
  const byStage = Object.entries(stages).map(
    ([stage, list]) => [{ stage }, list.map(matcherOf)] as const,
  );
  const isTotal = total?.map(matcherOf) ?? [({ parentSpanId }: Span) => parentSpanId === ''];
  const given = Object.entries(fields).filter(([, list]) => list !== undefined);
  return {
    fields: { ...defaultFields, ...Object.fromEntries(given) },
    roleOf(span) {
      if (isTotal.some((matches) => matches(span))) return 'total';
      return byStage.find(([, list]) => list.some((matches) => matches(span)))?.[0];
    },
  };
}

function matcherOf(given: Selector): (span: Span) => boolean {
  if (typeof given === 'string') return ({ name }) => name === given;
  const { name, kind, attribute, equals } = given;
  const kindNumber = kind === undefined ? undefined : spanKinds.indexOf(kind);
  return (span) => {
    if (name !== undefined && span.name !== name) return false;
    if (kindNumber !== undefined && span.kind !== kindNumber) return false;
    if (attribute === undefined) return true;
    const value = span.attributes.get(attribute);
    return equals === undefined ? value !== undefined : value === equals;
  };
}

/** Hands a span to the sink as the partial event that the rules make of it, or as nothing by intent. */
export function emitByRules(
  span: Span,
  origin: Origin,
  { roleOf, fields }: SpanRules,
  sink: SpanEventSink,
): void {
  const role = roleOf(span);
  if (role === undefined) {
    sink.skip(1);
    return;
  }
  const unended = unendedReject(span);
  if (unended !== undefined) {
    sink.reject(unended.reason, unended.detail, origin);
    return;
  }
  const { durationMs } = span;
  const durations =
    role === 'total' ? { total_ms: durationMs } : { stages_ms: { [role.stage]: durationMs ?? 0 } };
  sink.draft({ ...fieldsOf(span, fields), partial: true, ...durations }, origin);
}
