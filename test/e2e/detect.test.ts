import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type IncomingHttpHeaders, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { webhookSignature } from '../../src/alert/webhook-signature.ts';
import { minuteMs } from '../../src/base/time.ts';
import type { Explanation } from '../../src/cli/text/render-explanation.ts';
import type { Config } from '../../src/config/schema.ts';
import { type AnomalyEvent, anomalyEventSchema } from '../../src/contract/anomaly-event.ts';
import { defaultFleet } from '../../src/generate/default-fleet.ts';
import {
  type PublishedEvent,
  publishedTraffic,
} from '../../src/generate/publish/published-traffic.ts';
import type { TimingEventJson } from '../../src/generate/timing-event-json.ts';
import type { TopicMessage } from '../../src/kafka/follow-topic.ts';
import type { Pipeline } from '../../src/pipeline.ts';
import { useStack } from '../containers/stack.ts';
import { poll } from './kit/poll.ts';
import type { Rig } from './kit/rig.ts';
import { withRig } from './kit/with-rig.ts';

const stack = useStack();
const partitions = 2;

/** In event time, from the start: a past to learn from, a slow stage, and the time after. */
const plot = {
  faultFromMs: 16 * minuteMs,
  restartMs: 17 * minuteMs,
  faultToMs: 18 * minuteMs,
  // A slightly affected series may need minutes to recover: another anomalous stage holds it open.
  endMs: 26 * minuteMs,
};
const fault = { model: 'ranker', region: 'eu-west-1', stage: 'features' };
/**
 * Large enough that each series opens by its total, far from any threshold, and one has the largest share.
 * Near a threshold the merge order of digests decides which series gives the incident its id.
 */
const faultFactor = 12;
/** Blocks of baselines and of traffic begin, and references are renewed, at multiples of this: one story at any time. */
const periodMs = 1_800_000;
const secret = `whsec_${Buffer.from('a secret of the test').toString('base64')}`;

/** A request to a webhook. */
interface Post {
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

const posts: Post[] = [];
let receiver: Server;

beforeAll(async () => {
  receiver = createServer((request, response) => {
    let body = '';
    request.setEncoding('utf8').on('data', (text: string) => {
      body += text;
    });
    request.on('end', () => {
      posts.push({ headers: request.headers, body });
      response.writeHead(204).end();
    });
  });
  await new Promise<void>((resolve) => receiver.listen(0, '127.0.0.1', resolve));
});
afterAll(() => {
  receiver.closeAllConnections();
  receiver.close();
});

function configOf({ config }: Rig): Config {
  const { port } = receiver.address() as AddressInfo;
  const webhook = { url: `http://127.0.0.1:${port}/hook`, timeout: 5_000, secret };
  return {
    ...config,
    alert: { ...config.alert, webhooks: [webhook], runbook_url: 'https://runbooks.example/tails' },
    detect: { ...config.detect, interval: 250 },
  };
}

function traffic(startMs: number): Generator<PublishedEvent, void> {
  return publishedTraffic({
    seed: 'detect',
    startMs,
    durationMs: plot.endMs,
    ratePerSecond: 160,
    models: defaultFleet.filter(({ name }) => name === fault.model),
    dailySwing: 0,
    faults: [
      {
        kind: 'slow_stage',
        ...fault,
        factor: faultFactor,
        share: 0.25,
        fromMs: plot.faultFromMs,
        forMs: plot.faultToMs - plot.faultFromMs,
      },
    ],
  });
}

/** Messages of 20 events, to the partitions in turn. */
function* messagesOf(events: readonly TimingEventJson[]) {
  for (let from = 0; from < events.length; from += 20) {
    const value = events
      .slice(from, from + 20)
      .map((event) => JSON.stringify(event))
      .join('\n');
    yield { value, partition: (from / 20) % partitions };
  }
}

async function get(pipeline: Pipeline, path: string, method = 'GET') {
  const response = await fetch(`${pipeline.url}${path}`, { method });
  return { status: response.status, text: await response.text() };
}

/** Every event of the table, in the order of its anomaly. */
async function stored(rig: Rig): Promise<AnomalyEvent[]> {
  const rows = await rig.rows<{ body: string }>(
    'SELECT body FROM anomalies FINAL ORDER BY id, revision',
  );
  return rows.map(({ body }) => anomalyEventSchema.parse(JSON.parse(body)));
}

function idsOf(events: readonly AnomalyEvent[], state: AnomalyEvent['state']): string[] {
  return events.filter((event) => event.state === state).map(({ id }) => id);
}

describe('a slow stage', () => {
  it('is found and blamed in the table, on the topic and at the webhook; over a restart each open is resolved once', () =>
    // Also for the command line, which judges it all again: the traffic ends soon after the fault.
    withRig(
      { stack, name: 'detect', partitions, settings: { DETECT_RESOLVE_WINDOWS: '3' } },
      async (rig) => {
        const config = configOf(rig);
        const roles = ['ingest', 'detect', 'serve'] as const;
        const startMs = Math.floor((Date.now() - plot.endMs) / periodMs) * periodMs;
        const published = [...traffic(startMs)];
        const events = published.map(({ event }) => event);
        const isBefore = ({ dueMs }: PublishedEvent) => dueMs < startMs + plot.restartMs;
        const before = events.slice(0, published.filter(isBefore).length);
        const after = events.slice(before.length);

        const first = await rig.start(roles, config);
        const messages: TopicMessage[] = [];
        await rig.follow(config.alert.topic, (message) => messages.push(message));
        await rig.publish(messagesOf(before));
        await rig.untilConsumed(before.length);
        await poll('the anomaly is opened', async () => (await stored(rig))[0]);
        expect((await rig.cli(['anomalies'])).exitCode).toBe(2);
        await expectServed(first, rig, before.length);
        await first.stop();

        const opened = await stored(rig);
        expect(idsOf(opened, 'resolved')).toEqual([]);
        const second = await rig.start(roles, config);
        await rig.publish(messagesOf(after));
        await rig.untilConsumed(events.length);
        await poll('everything is resolved', async () => {
          const emitted = await stored(rig);
          const [open, resolved] = [idsOf(emitted, 'opened'), idsOf(emitted, 'resolved')];
          return open.every((id) => resolved.includes(id)) ? true : undefined;
        });
        await second.stop();

        const emitted = await stored(rig);
        expectEpisodes(emitted, opened);
        const pages = emitted.filter(({ incident_id }) => incident_id === undefined);
        await expectOneCause(rig, emitted, pages);
        await expectSameInBacktests(rig, startMs, events, pages);
        await poll('all is on the topic', () =>
          messages.length >= pages.length ? true : undefined,
        );
        expectOnTopic(messages, pages);
        expectAtWebhook(pages);
      },
    ));

  async function expectServed(pipeline: Pipeline, { topic }: Rig, events: number): Promise<void> {
    expect(await get(pipeline, '/healthz')).toEqual({ status: 200, text: 'ok\n' });
    expect(await get(pipeline, '/readyz')).toEqual({ status: 200, text: 'ready\n' });
    expect((await get(pipeline, '/nothing')).status).toBe(404);
    expect((await get(pipeline, '/healthz', 'POST')).status).toBe(405);
    // Counted once the table has acknowledged, a moment after the row can be read.
    const text = await poll('the metrics count the anomaly', async () => {
      const { status, text } = await get(pipeline, '/metrics');
      expect(status).toBe(200);
      return /\ntailmark_anomaly_events_total\{event="opened"\} [1-9]/.test(text)
        ? text
        : undefined;
    });
    expect(text).toContain(`\ntailmark_events_consumed_total{topic="${topic}"} ${events}\n`);
    expect(text).toContain(`\ntailmark_events_aggregated_total{topic="${topic}"} ${events}\n`);
    expect(text).toMatch(/\ntailmark_windows_evaluated_total [1-9]/);
  }

  /** All are of the fault; each opens first, is resolved last, and neither happens twice. */
  function expectEpisodes(emitted: readonly AnomalyEvent[], opened: readonly AnomalyEvent[]): void {
    for (const event of emitted) {
      const { stage, ...series } = fault;
      expect(event).toMatchObject({ ...series, kind: 'tail_shift', cold_start: false });
      // A member with seven requests above its p99 may have one that was slow independently.
      const isPart = event.incident_id !== undefined;
      const blamed = event.blame.find((part) => part.stage === stage);
      expect(blamed?.share).toBeGreaterThan(isPart ? 0.3 : 0.9);
      expect(event.runbook_url).toBe('https://runbooks.example/tails');
      if (!isPart) expect([event.stage, event.blame[0]?.stage]).toEqual([stage, stage]);
      const shares = event.blame.reduce((sum, { share }) => sum + share, 0);
      expect(shares).toBeCloseTo(1, 6);
      expect(event.exemplars.length).toBeGreaterThan(0);
    }
    for (const id of new Set(emitted.map((event) => event.id))) {
      const episode = emitted.filter((event) => event.id === id);
      expect(episode.map(({ revision }) => revision)).toEqual(episode.map((_, n) => n + 1));
      expect(episode.map(({ state }) => state)).toEqual([
        'opened',
        ...episode.slice(2).map(() => 'updated'),
        'resolved',
      ]);
      expect(new Set(episode.map(({ dedup_key }) => dedup_key)).size).toBe(1);
    }
    // Open anomalies from before the restart are resolved after it, under the same keys.
    const keysOf = (events: readonly AnomalyEvent[]) =>
      events.map(({ id, dedup_key }) => `${id} ${dedup_key}`);
    expect(keysOf(emitted.filter(({ state }) => state === 'resolved'))).toEqual(
      expect.arrayContaining(keysOf(opened.filter(({ state }) => state === 'opened'))),
    );
  }

  /** One page of all series that the fault affects, which the table has separately. */
  async function expectOneCause(
    rig: Rig,
    emitted: readonly AnomalyEvent[],
    pages: readonly AnomalyEvent[],
  ): Promise<void> {
    expect(idsOf(pages, 'opened')).toHaveLength(1);
    const [id] = idsOf(pages, 'opened');
    const rows = emitted.filter(({ incident_id }) => incident_id !== undefined);
    for (const event of pages) {
      expect(event.bottleneck).toBe('feature');
      expect(event.mix_share ?? 0).toBeLessThan(0.5);
    }
    expect(new Set(rows.map(({ incident_id }) => incident_id))).toEqual(new Set([id]));
    const hit = new Set(rows.map(({ version, request_type }) => `${version} ${request_type}`));
    expect(hit.size).toBeGreaterThan(1);
    const { scope, members: listedMembers = [] } = pages.at(-1) as AnomalyEvent;
    expect(scope).toMatchObject({ affected: hit.size, unresolved: 0 });
    // The fault is of one region, and of all versions and request types there.
    expect(scope?.common).toEqual([{ dimension: 'region', value: fault.region }]);
    expect(listedMembers).toHaveLength(hit.size);
    const { out } = await rig.cli(['explain', String(id), '--json']);
    const { members } = JSON.parse(out) as Explanation;
    expect(members.map((member) => member.id).sort()).toEqual(idsOf(rows, 'resolved').sort());
    const listing = await rig.cli(['anomalies', '--json']);
    expect(listing.exitCode).toBe(0);
    const listed = JSON.parse(listing.out) as { readonly anomalies: readonly AnomalyEvent[] };
    expect(listed.anomalies.map((anomaly) => anomaly.id)).toEqual([id]);
  }

  /** Windows judged one by one over a restart are judged the same again: from the tables, and from a file. */
  async function expectSameInBacktests(
    rig: Rig,
    startMs: number,
    events: readonly TimingEventJson[],
    emitted: readonly AnomalyEvent[],
  ): Promise<void> {
    const dir = mkdtempSync(join(tmpdir(), 'tailmark-backtest-'));
    const input = join(dir, 'events.ndjson');
    writeFileSync(input, `${events.map((event) => JSON.stringify(event)).join('\n')}\n`);
    const iso = (ms: number) => new Date(ms).toISOString();
    const ids = [...new Set(emitted.map(({ id }) => id))].sort();
    const drivers: (readonly [string, number, AnomalyEvent['drivers']])[][] = [];
    for (const range of [
      ['--from', iso(startMs), '--to', iso(startMs + plot.endMs)],
      ['--input', input],
    ]) {
      const { exitCode, out } = await rig.cli(['backtest', ...range, '--json']);
      const found = out
        .trim()
        .split('\n')
        .map((line) => anomalyEventSchema.parse(JSON.parse(line)));
      expect([exitCode, found.map(({ id }) => id).sort()]).toEqual([2, ids]);
      for (const event of found) {
        expect(event).toMatchObject({ ...fault, state: 'resolved', resolution: 'recovered' });
      }
      drivers.push(found.map(({ id, mix_share: mix = -1, drivers: named }) => [id, mix, named]));
    }
    // Drivers are the same, from tables or from memory. The share of the mix is that of the worst series, and
    // digests merged from other chunks may name the other of two that are alike.
    const [fromTables = [], fromMemory = []] = drivers;
    expect(fromTables.map(([id, , named]) => [id, named])).toEqual(
      fromMemory.map(([id, , named]) => [id, named]),
    );
    for (const [i, [, mix]] of fromTables.entries()) {
      expect(mix).toBeGreaterThanOrEqual(0);
      expect(Math.abs(mix - (fromMemory[i]?.[1] ?? Number.NaN))).toBeLessThan(0.02);
    }
    const { out } = await rig.cli(['backtest', '--from', iso(startMs)]);
    expect(out).toContain(`${ids.length} also detected at the time, 0 new, 0 no longer detected\n`);
    rmSync(dir, { recursive: true });
  }

  /** CloudEvents in binary mode, once each. */
  function expectOnTopic(
    messages: readonly TopicMessage[],
    emitted: readonly AnomalyEvent[],
  ): void {
    const nameOf = (event: AnomalyEvent) => `${event.id}-${event.revision}`;
    expect(messages.map(({ headers }) => headers.ce_id).sort()).toEqual(emitted.map(nameOf).sort());
    for (const event of emitted) {
      const message = messages.find(({ headers }) => headers.ce_id === nameOf(event));
      expect(message?.key).toBe(event.dedup_key);
      expect(JSON.parse(String(message?.value))).toEqual(event);
      expect(message?.headers).toEqual({
        'content-type': 'application/json',
        ce_specversion: '1.0',
        ce_id: nameOf(event),
        ce_source: 'tailmark',
        ce_type: `io.tailmark.anomaly.${event.state}.v1`,
        ce_time: event.emitted_at,
        ce_subject: event.dedup_key,
      });
    }
  }

  /** The same, over HTTP and signed. */
  function expectAtWebhook(emitted: readonly AnomalyEvent[]): void {
    expect(posts).toHaveLength(emitted.length);
    for (const event of emitted) {
      const id = `${event.id}-${event.revision}`;
      const post = posts.find(({ headers }) => headers['ce-id'] === id);
      expect(JSON.parse(post?.body ?? '')).toEqual(event);
      expect(post?.headers).toMatchObject({
        'content-type': 'application/json',
        'ce-specversion': '1.0',
        'ce-type': `io.tailmark.anomaly.${event.state}.v1`,
        'ce-subject': event.dedup_key,
        'webhook-id': id,
      });
      const timestampSeconds = Number(post?.headers['webhook-timestamp']);
      const signature = webhookSignature({ secret, id, timestampSeconds, body: post?.body ?? '' });
      expect(post?.headers['webhook-signature']).toBe(signature);
    }
  }
});
