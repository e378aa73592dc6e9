import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { useStack } from '../../containers/stack.ts';
import { protoOf } from '../../formats/otlp/oracle.ts';
import { poll } from '../kit/poll.ts';
import { truthOf } from '../kit/truth.ts';
import { withRig } from '../kit/with-rig.ts';
import { changed, llmSpans } from './llm-spans.ts';
import { withSpanTopics } from './with-span-topics.ts';

const stack = useStack();
const withTopics = (use: Parameters<typeof withSpanTopics>[1]) => withSpanTopics(stack, use);

const nowMs = Date.now();
const { requests, events } = llmSpans(nowMs);
const [vllm = '', sglang = '', clients = ''] = requests;
const nsOf = (ms: number) => `${Math.floor(ms)}000000`;
const inAnHour = { startTimeUnixNano: nsOf(nowMs + 3.6e6), endTimeUnixNano: nsOf(nowMs + 3.7e6) };
const timing = { model: 'm', total_ms: 12.5, stages_ms: { forward: 9.25 } };

/** What no event is made of, and the reasons. */
const bad = [
  { request: changed(vllm, [{ endTimeUnixNano: '0' }]), reasons: ['no_end'] },
  {
    request: changed(vllm, [{ endTimeUnixNano: nsOf(nowMs - 3.6e6) }]),
    reasons: ['ends_before_start'],
  },
  {
    request: changed(vllm, [{ name: 'GET /', attributes: [] }, {}, inAnHour]),
    reasons: ['future'],
  },
] as const;

describe('topics of OpenTelemetry spans', () => {
  it('give an event for each request, skip other spans, and reject the rest with its reason', () =>
    withTopics(async (rig, topics) => {
      const sampled = { ...timing, ts: nowMs - 1_000, weight: 10, status: 'error' };
      const lines = [{ ...timing, ts: nowMs - 1_000 }, sampled];
      await rig.publish(lines.map((event) => ({ value: JSON.stringify(event) })));
      await rig.publish(
        [
          ...requests.map((text) => ({ value: protoOf(text) })),
          ...bad.map(({ request }) => ({ value: protoOf(request) })),
          { value: protoOf(vllm).subarray(0, 1_000) },
          { value: Buffer.from('{"resourceSpans":[]}') },
          { value: null },
          { value: Buffer.alloc(0) },
        ],
        topics.proto,
      );
      await rig.publish(
        [...[vllm, sglang, clients].map((value) => ({ value })), { value: '{"resourceSpans":[' }],
        topics.json,
      );
      await rig.start(['ingest']);
      // 50 spans, 1 + 1 + 3, and 3 messages; the preset of the other topic knows vLLM's 20 alone.
      const consumed = 2 + (50 + 5 + 3) + (50 + 1);
      await rig.untilConsumed(consumed);

      const vllmEvents = events.slice(0, 20);
      await rig.expectStages(
        truthOf([
          ...[timing, ...Array(10).fill(timing)],
          ...[...events, vllmEvents[0] ?? {}, ...vllmEvents],
        ]),
      );
      const { totals, checks } = await rig.expectVerified();
      const accounted = checks.find(({ name }) => name === 'every event is accounted for');
      expect(accounted?.detail).toMatch(/ \+ 31 unmapped$/);
      expect(totals).toMatchObject({
        consumed,
        aggregated: 2 + 51 + 20,
        weight: 11 + 51 + 20,
        rejected: 6 + 1,
        late: 0,
        unmapped: 1 + 30,
      });
      const letters = await rig.read(`${topics.proto}.dlq`, 6);
      expect(letters.map(({ headers }) => headers['tailmark-reason'])).toEqual([
        ...bad.flatMap(({ reasons }) => reasons),
        'invalid_protobuf',
        'invalid_protobuf',
        'tombstone',
      ]);
      expect(letters[4]?.headers['tailmark-detail']).toMatch(/it looks like JSON/);
      const [broken] = await rig.read(`${topics.json}.dlq`, 1);
      expect(broken?.headers['tailmark-reason']).toBe('invalid_json');
      expect(broken?.value?.toString()).toBe('{"resourceSpans":[');
    }));

  it('take back a letter, which is a message of its own', () =>
    withTopics(async (rig, topics) => {
      const request = protoOf(changed(vllm, [{}, inAnHour, {}]));
      await rig.publish([{ value: request }], topics.proto);
      await rig.start(['ingest']);
      await rig.untilConsumed(3);
      const argv = ['replay', '--dead-letters', '--reason', 'future', '--json'];
      const { exitCode, out } = await rig.cli(argv);
      expect([exitCode, JSON.parse(out).replayed]).toEqual([0, 1]);
      const again = await poll('the event again', async () => {
        const all = await rig.read(topics.proto, 2);
        return all[1]?.value ?? undefined;
      });
      expect(again).toEqual(protoOf(changed(vllm, [inAnHour])));
      await rig.untilConsumed(4);
      // A topic that is rejected is said, in the log.
      await rig.publish(Array(25).fill({ value: '{' }), topics.json);
      await rig.untilConsumed(4 + 25);
      const said = () => rig.logLines.find((line) => line.includes('most of this topic'));
      expect(JSON.parse((await poll('the warning', said)) ?? '{}')).toMatchObject({
        ...{ topic: topics.json, rejected: 25, of: 25, reason: 'invalid_json' },
      });
    }));

  it('are what check --connect says of their newest records', () =>
    withTopics(async (rig, topics) => {
      await rig.publish(
        requests.map((text) => ({ value: protoOf(text) })),
        topics.proto,
      );
      // Spans in protobuf in a topic of JSON.
      await rig.publish([{ value: protoOf(vllm) }], topics.json);
      const { exitCode, out } = await rig.cli(['check', '--connect', '--json']);
      const findings = (JSON.parse(out).findings as { ok: boolean; what: string; detail: string }[])
        .filter(({ what }) => what.startsWith('topic '))
        .map(({ ok, what, detail }) => ({ ok, what, detail }));
      expect(exitCode).toBe(78);
      const stages = 'queue, prefill, decode, first_token, queue_prefill';
      const models =
        'vllm-server, meta-llama/Llama-3.1-8B-Instruct, gpt-4o-mini-2024-07-18, gpt-4o-mini';
      expect(findings).toEqual([
        { ok: true, what: `topic ${topics.plain} (timing)`, detail: 'no records yet' },
        {
          ok: true,
          what: `topic ${topics.proto} (otlp_proto)`,
          detail: `the newest 3 records hold 50 requests of ${models} with ${stages}`,
        },
        {
          ok: false,
          what: `topic ${topics.json} (otlp_json)`,
          detail: expect.stringMatching(
            /rejected: invalid_utf8, .*; it looks like protobuf: set format: otlp_proto for spans$/,
          ),
        },
      ]);
    }));

  it('may be a file of such requests, one a line', () =>
    withRig({ stack, name: 'otlp_file' }, async (rig) => {
      const path = join(mkdtempSync(join(tmpdir(), 'tailmark-spans-')), 'spans.jsonl');
      writeFileSync(path, requests.join('\n'));
      const source = { TYPE: 'file', PATH: path, FORMAT: 'otlp_json' };
      const own = Object.entries(source).map(([key, value]) => [`TAILMARK_SOURCE_${key}`, value]);
      const env = { ...rig.env, ...Object.fromEntries(own) };
      const argv = ['run', '--roles', 'ingest'];
      const { exitCode, err } = await rig.cli(argv, { env });
      rmSync(dirname(path), { recursive: true });
      expect([exitCode, /^error: .*$/m.exec(err)?.[0]]).toEqual([0, undefined]);
      await rig.expectStages(truthOf(events));
    }));
});
