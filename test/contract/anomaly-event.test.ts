import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { anomalyEventSchema } from '../../src/contract/anomaly-event.ts';
import { anomalyFixture } from './anomaly-fixture.ts';

const root = new URL('../../', import.meta.url);
const read = (path: string) => readFileSync(new URL(path, root), 'utf8');

describe('anomalyEventSchema', () => {
  it.each([
    ['an unknown field', { surprise: 1 }],
    ['a state that is none', { state: 'closed' }],
    ['revision 0', { revision: 0 }],
    ['a quantile in percent', { quantile: 99 }],
    ['a time without a zone', { started_at: '2026-11-01T12:00:00' }],
  ])('refuses %s', (_, changed) => {
    expect(anomalyEventSchema.safeParse({ ...anomalyFixture(), ...changed }).success).toBe(false);
  });

  it('accepts a whole event and keeps it unchanged, through JSON', () => {
    const event = anomalyFixture();
    expect(anomalyEventSchema.parse(JSON.parse(JSON.stringify(event)))).toEqual(event);
  });

  it('matches config/anomaly-event.schema.json', () => {
    const committed = JSON.parse(read('config/anomaly-event.schema.json'));
    expect(z.toJSONSchema(anomalyEventSchema)).toEqual(committed);
  });

  it('is documented field by field in docs/reference/anomaly-event.md', () => {
    const documented = read('docs/reference/anomaly-event.md');
    const { shape } = anomalyEventSchema;
    const fields = [
      shape,
      shape.evidence.shape,
      shape.rate.unwrap().shape,
      shape.slo.unwrap().shape,
    ].flatMap(Object.keys);
    for (const field of [...fields, ...Object.keys(shape.blame.element.shape)]) {
      expect(documented, field).toContain(`\`${field}\``);
    }
    const { test } = shape.evidence.shape;
    const { unit } = shape.rate.unwrap().shape;
    const choices = [shape.kind, shape.bottleneck, shape.state, shape.severity, test, unit];
    for (const choice of choices) {
      for (const value of choice.options) expect(documented).toContain(`\`${value}\``);
    }
  });
});
