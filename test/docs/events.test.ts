import { describe, expect, it } from 'vitest';
import { configSchema } from '../../src/config/schema.ts';
import { anomalyEventSchema } from '../../src/contract/anomaly-event.ts';
import { eventFields } from '../../src/decode/event-fields.ts';
import { timingEvent } from '../../src/decode/timing-event.ts';
import { codeBlocks } from './code-blocks.ts';
import { documents } from './documents.ts';

const { limits } = configSchema.parse({});
const contract = timingEvent({
  maxDurationMs: limits.max_duration,
  maxDimensionBytes: limits.max_dimension_bytes,
});

interface Example {
  readonly place: string;
  readonly value: Readonly<Record<string, unknown>>;
}

/** Values of a text: one, laid out over lines, or one a line. */
function valuesOf(text: string): unknown[] {
  try {
    return [JSON.parse(text)].flat();
  } catch {
    return text
      .split('\n')
      .filter((line) => line.trim() !== '')
      .map((line) => JSON.parse(line) as unknown);
  }
}

const isJson = (language: string) => ['json', 'ndjson', 'jsonl'].includes(language);
const examples = documents().flatMap((document): Example[] => {
  const inBlocks = codeBlocks(document)
    .filter(({ language }) => isJson(language))
    .flatMap(({ text, line }) => valuesOf(text).map((value) => ({ line, value })));
  const inText = document.text.split('\n').flatMap((text, index) =>
    [...text.matchAll(/`(\{"(?:ts|model|dedup_key)":[^`]*\})`/g)].map((match) => ({
      line: index + 1,
      value: JSON.parse(match[1] ?? '') as unknown,
    })),
  );
  return [...inBlocks, ...inText].map(({ line, value }) => ({
    place: `${document.path}:${line}`,
    value: value as Example['value'],
  }));
});
const timings = examples.filter(({ value }) => 'ts' in value && 'model' in value);
const anomalies = examples.filter(({ value }) => 'dedup_key' in value && 'kind' in value);

describe('events in the documentation', () => {
  it('are found', () => {
    expect(timings.map(({ place }) => place.split(':')[0])).toContain('README.md');
    expect(timings.map(({ place }) => place.split(':')[0])).toContain('docs/reference/event.md');
  });

  it.each(timings)('$place is a timing event', ({ value }) => {
    expect(contract.safeParse(value).error?.issues ?? []).toEqual([]);
  });

  it.each(timings)('$place names only fields that exist', ({ value }) => {
    expect(eventFields.map(({ name }) => name)).toEqual(expect.arrayContaining(Object.keys(value)));
  });

  it.each(anomalies)('$place is an anomaly event', ({ value }) => {
    expect(anomalyEventSchema.safeParse(value).error?.issues ?? []).toEqual([]);
  });
});
