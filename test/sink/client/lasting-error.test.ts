import { ClickHouseError } from '@clickhouse/client';
import { describe, expect, it } from 'vitest';
import { OperatorError } from '../../../src/base/operator-error.ts';
import { configSchema } from '../../../src/config/schema.ts';
import { LastingError } from '../../../src/sink/client/lasting-error.ts';

const { clickhouse } = configSchema.parse({});
const response = (code: string) => new ClickHouseError({ code, message: `error ${code}` });
const make = () => new LastingError(clickhouse, 'detect');

describe('an error that a retry does not mend', () => {
  it.each([
    ['497', 'TAILMARK_CLICKHOUSE_DENIED'],
    ['60', 'TAILMARK_SCHEMA_MISSING'],
    ['81', 'TAILMARK_SCHEMA_MISSING'],
    ['16', 'TAILMARK_SCHEMA_MISSING'],
    ['516', 'TAILMARK_CLICKHOUSE_AUTH'],
  ])('%s ends the process as %s when it has stood for 30 s', (number, code) => {
    const lasting = make();
    expect(lasting.failed(response(number), 1_000)).toBeUndefined();
    expect(lasting.failed(response(number), 30_999)).toBeUndefined();
    expect(lasting.failed(response(number), 31_000)).toMatchObject({ code, exitCode: 78 });
  });

  it.each<[string, unknown]>([
    ['a memory limit', response('241')],
    ['too many parts', response('252')],
    ['a table that is read-only for now', response('242')],
    ['a broken connection', Object.assign(new Error(), { code: 'ECONNRESET' })],
    ['a broker that is away', new OperatorError('TAILMARK_KAFKA_UNREACHABLE', '')],
  ])('is not %s', (_, error) => {
    const lasting = make();
    expect([0, 1e9].map((ms) => lasting.failed(error, ms))).toEqual([undefined, undefined]);
  });

  it('begins again after a success, and after another error', () => {
    const lasting = make();
    lasting.failed(response('497'), 0);
    lasting.succeeded();
    expect(lasting.failed(response('497'), 30_000)).toBeUndefined();
    lasting.failed(response('241'), 40_000);
    expect(lasting.failed(response('60'), 60_000)).toBeUndefined();
    // Another reason of that kind goes on: a migration does not mend a missing right.
    expect(lasting.failed(response('497'), 90_000)).toMatchObject({
      code: 'TAILMARK_CLICKHOUSE_DENIED',
    });
  });

  it('may be one of Kafka: the dead-letter topic is gone, or may not be written', () => {
    for (const code of ['TAILMARK_KAFKA_TOPIC_MISSING', 'TAILMARK_KAFKA_DENIED'] as const) {
      const lasting = make();
      const error = new OperatorError(code, 'Cannot write');
      lasting.failed(error, 0);
      expect(lasting.failed(error, 30_000)).toBe(error);
    }
  });
});
