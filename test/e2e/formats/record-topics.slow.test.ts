import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, it } from 'vitest';
import { ensureTopics } from '../../../src/kafka/client/kafka-topics.ts';
import { useStack } from '../../containers/stack.ts';
import { uniqueName } from '../../containers/unique-name.ts';
import { fixture, messagesOf } from '../../formats/records/decode-records.ts';
import { json, startRegistry } from '../../registry/registry-server.ts';
import { type CountedEvent, truthOf } from '../kit/truth.ts';
import { withRig } from '../kit/with-rig.ts';

const stack = useStack();
const folder = mkdtempSync(join(tmpdir(), 'tailmark-records-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const page = readFileSync(
  new URL('../../../docs/how-to/schema-registry.md', import.meta.url),
  'utf8',
);

/** Writes a mapping of the page to a file. */
function mappingFile(name: string): string {
  const block = new RegExp(`^ {4}# ${name}\n((?: {4}.*\n)+)`, 'm').exec(page)?.[1] ?? '';
  const path = join(folder, `${name}.yaml`);
  writeFileSync(path, block.replace(/^ {4}/gm, ''));
  return path;
}

/** The fixtures are of one day, however long ago that is. */
const keepAll = Object.fromEntries(
  ['10S', '1M', '1H', '1D'].map((table) => [`CLICKHOUSE_RETENTION_LATENCY_${table}`, '3650d']),
);
const events = fixture('expected/timings.ndjson')
  .toString()
  .trim()
  .split('\n')
  .map((line) => JSON.parse(line) as CountedEvent);

it('Avro, Protobuf and JSON of a registry that is away at first give every event once', async () => {
  let isAway = true;
  const guid = '89791762-2336-4186-9674-299b90a802e2';
  const inHeader = Buffer.from(`01${guid.replaceAll('-', '')}`, 'hex');
  const schemas = new Map([
    ['1', { schema: fixture('kafka/timing.avsc').toString() }],
    ['3', { schema: fixture('kafka/timing.proto').toString(), schemaType: 'PROTOBUF' }],
    [guid, { schema: fixture('kafka/timing.avsc').toString() }],
  ]);
  const registry = await startRegistry((request, response) => {
    const id =
      /^\/schemas\/(?:ids\/(?=\d+$)|guids\/)([\da-f-]+)$/.exec(request.url ?? '')?.[1] ?? '';
    const found = schemas.get(id);
    if (isAway) json(response, 503, { error_code: 50301, message: 'not now' });
    else if (found === undefined) json(response, 404, { error_code: 40403, message: 'unknown' });
    else json(response, 200, found);
  });
  const name = uniqueName('records');
  const formats = ['avro', 'protobuf', 'json'] as const;
  const topics = formats.map((format) => ({
    ...{ topic: `${name}.${format}`, format, framing: 'confluent' },
    mapping: mappingFile(format),
  }));
  const settings = {
    ...keepAll,
    KAFKA_TOPICS: JSON.stringify(topics),
    SCHEMA_REGISTRY_URL: registry.url,
  };
  try {
    await withRig({ stack, name: 'records', settings }, async (rig) => {
      const specs = topics.slice(1).map(({ topic }) => ({ topic, partitions: 1 }));
      await ensureTopics(rig.config.kafka, specs);
      const files = {
        avro: 'timings_avro',
        protobuf: 'timings_protobuf',
        json: 'timings_jsonschema',
      };
      for (const { topic, format } of topics) {
        const values = messagesOf(`kafka/${files[format]}.jsonl`);
        await rig.publish(
          values.map((value, at) =>
            format === 'avro' && at % 2 === 0
              ? { value: value.subarray(5), headers: { __value_schema_id: inHeader } }
              : { value },
          ),
          topic,
        );
      }
      const unknown = Buffer.from([0, 0, 0, 0, 99, 1, 2, 3]);
      const cut = messagesOf('kafka/timings_avro.jsonl')[0]?.subarray(0, 30) ?? null;
      await rig.publish([{ value: unknown }, { value: cut }], topics[0]?.topic);

      await rig.start(['ingest']);
      // Records without a schema of the registry are not held back by it.
      await rig.untilConsumed(20);
      expect(await rig.consumed()).toBe(20);
      const { out } = await rig.cli(['check', '--connect', '--roles', 'ingest']);
      expect(out).toContain(
        `fail  topic ${topics[0]?.topic}: the schema registry does not give the schemas of its newest records: status 503\n`,
      );
      isAway = false;
      // An id that the registry does not know holds its partition for a minute: another node may know it.
      await rig.untilConsumed(62);

      await rig.expectStages(truthOf([...events, ...events, ...events]));
      const { totals } = await rig.expectVerified();
      expect(totals).toMatchObject({ consumed: 62, aggregated: 60, rejected: 2, unmapped: 0 });
      const letters = await rig.read(`${topics[0]?.topic}.dlq`, 2);
      expect(letters.map(({ headers }) => headers['tailmark-reason'])).toEqual([
        'unknown_schema',
        'invalid_avro',
      ]);
      expect(letters.map(({ value }) => value)).toEqual([unknown, cut]);
    });
  } finally {
    await registry.close();
  }
});

it('CloudEvents in binary mode: attributes are headers, which a replay keeps', async () => {
  interface Recorded {
    readonly headers: Readonly<Record<string, string>>;
    readonly value: string;
  }
  const records = fixture('kafka/timings_ce_binary.jsonl')
    .toString()
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as Recorded)
    .map(({ headers, value }) => {
      const { request_id, start_time, model, ...data } = JSON.parse(value);
      return { headers, value: JSON.stringify(data) };
    });
  const name = uniqueName('cloudevents');
  const topic = { topic: name, format: 'json', preset: 'cloudevents' };
  const settings = { ...keepAll, KAFKA_TOPICS: JSON.stringify([topic]) };
  // As brokers have it by default.
  const topicSettings = { 'max.message.bytes': '1048588' };
  await withRig({ stack, name: 'cloudevents', settings, topicSettings }, async (rig) => {
    await rig.publish(records);
    const { ce_subject, ...unnamed } = records[0]?.headers ?? {};
    const binary = Buffer.from([0, 0xff, 0x80]);
    const rejected = { headers: { ...unnamed, binary }, value: records[0]?.value ?? '' };
    await rig.publish([rejected]);
    const { out } = await rig.cli(['check', '--connect']);
    expect(out).toContain(
      'the newest 20 records hold 19 requests of ranker with queue, features, forward; 1 rejected: missing_model',
    );

    // More headers than the topic takes at once.
    const large = { ...rejected, headers: { ...unnamed, large: Buffer.alloc(100_000, 'h') } };
    for (let i = 0; i < 11; i++) await rig.publish([large]);

    await rig.start(['ingest']);
    await rig.untilConsumed(32);
    await rig.expectStages(truthOf(events));
    const { totals } = await rig.expectVerified();
    expect(totals).toMatchObject({ consumed: 32, aggregated: 20, rejected: 12, unmapped: 0 });

    const replay = ['replay', '--dead-letters', '--reason', 'missing_model'];
    expect(await rig.cli(replay)).toMatchObject({ exitCode: 0 });
    const again = (await rig.read(name, 44))[32];
    expect(again?.value?.toString()).toBe(rejected.value);
    expect(again?.headers).toEqual({
      ...unnamed,
      binary: String(binary),
      'tailmark-replayed-from': expect.stringMatching(`^${name}/`),
    });
    // Rejected once more for the same reason: what gave its start is there.
    await rig.untilConsumed(44);
    const letters = await rig.read(`${name}.dlq`, 24);
    expect(letters.map(({ headers }) => headers['tailmark-reason'])).toEqual(
      new Array(24).fill('missing_model'),
    );
  });
});

it('check --connect names the fields of a mapping that no record has', async () => {
  const name = uniqueName('paths');
  const mapping = join(folder, 'paths.yaml');
  writeFileSync(
    mapping,
    'start: {path: t, unit: ms}\ntotal: {path: total_msec, unit: ms}\nmodel: m\n' +
      'stages: [{name: queue, path: q, unit: ms}]\nid: request_idd\n',
  );
  const settings = { KAFKA_TOPICS: JSON.stringify([{ topic: name, format: 'json', mapping }]) };
  await withRig({ stack, name: 'paths', settings }, async (rig) => {
    const value = JSON.stringify({ t: Date.now(), m: 'ranker', q: 5, request_id: '7' });
    await rig.publish([{ value }, { value }]);
    const { out } = await rig.cli(['check', '--connect']);
    expect(out).toContain(
      'the newest 2 records hold 2 requests of ranker with queue; total and id were found in none of 2 records',
    );
  });
});
