import { type EachMessagePayload, Kafka, logLevel } from 'kafkajs';
import { expect, it } from 'vitest';
import { minuteMs } from '../../../src/base/time.ts';
import type { AnomalyEvent } from '../../../src/contract/anomaly-event.ts';
import { formatMs, formatRatio, formatSignedMs } from '../../../src/contract/format.ts';
import { freePorts } from '../../../src/local/local-ports.ts';
import { useStack } from '../../containers/stack.ts';
import { bodiesByReceiver, linksByReceiver, noticeOf } from '../dashboard/kit/message-links.ts';
import { soon, untilDrawn, useBrowser } from '../dashboard/kit/use-browser.ts';
import { startChild } from '../kit/start-child.ts';
import { useNewcomer } from './use-newcomer.ts';
import { vllmTraffic } from './vllm-traffic.ts';

useStack(); // Skips this test, with the reason, where the machine lacks Java, Maven or chdb.
const browser = useBrowser();

const newcomer = useNewcomer('llm-serving.md');

const model = 'vllm-server';
const pastMinutes = 90;
const faultMinutes = 12;

it('A newcomer with vLLM is paged for a slow prefill, and the page shows the same', async () => {
  const { config, start, up } = newcomer();
  const [port = 0] = await freePorts([undefined]);
  const url = `http://127.0.0.1:${port}`;
  const env: Readonly<Record<string, string>> = {
    ...(await up()).env,
    TAILMARK_HTTP_LISTEN: `127.0.0.1:${port}`,
    TAILMARK_ALERT_DASHBOARD_URL: url,
  };
  start(['run', '--config', config], env);

  const toMs = Math.floor(Date.now() / minuteMs) * minuteMs;
  const fromMs = toMs - pastMinutes * minuteMs;
  const fault = {
    ...({ kind: 'prefill', factor: 5, share: 0.4 } as const),
    ...{ fromMs: (pastMinutes - faultMinutes) * minuteMs, toMs: Number.POSITIVE_INFINITY },
  };
  const kafka = new Kafka({
    brokers: [env.TAILMARK_KAFKA_BROKERS as string],
    logLevel: logLevel.NOTHING,
  });
  const producer = kafka.producer();
  await producer.connect();
  const traffic = { seed: 1, perSecond: 15, fromMs, toMs, faults: [fault] };
  for (const value of vllmTraffic(traffic)) {
    await producer.send({ topic: 'otlp_spans', messages: [{ value }] });
  }
  await producer.disconnect();

  // What is published, and what a receiver would be sent of it.
  const event = await published(kafka);
  expect(event).toMatchObject({
    model,
    state: 'opened',
    kind: 'tail_shift',
    bottleneck: 'prefill',
  });
  expect(event.evidence.measured_stage).toBe('first_token');
  expect(event.blame[0]?.stage).toBe('prefill');
  expect(event.blame[0]?.share).toBeGreaterThan(0.9);
  expect(Date.parse(event.started_at)).toBeGreaterThanOrEqual(fromMs + fault.fromMs - minuteMs);
  const notice = noticeOf(event);
  const links = linksByReceiver(url, notice);
  const link = `${url}/incidents/${event.id}`;
  const numbers = [formatMs(event.observed_ms), `${formatRatio(event.ratio)} its baseline`];
  for (const [receiver, body] of bodiesByReceiver(url, notice)) {
    for (const text of ['prefill', 'TTFT', ...numbers])
      expect([receiver, body]).toEqual([receiver, expect.stringContaining(text)]);
    expect(links.get(receiver)).toContain(link);
  }

  const tails = startChild(['tails', '--config', config, '--model', model, '--since', '2h'], env);
  await tails.exited;
  for (const stage of ['first_token', 'time_per_output_token', 'prefill', 'total']) {
    expect(tails.out()).toMatch(new RegExp(`^(${model})? +${stage} +[\\d,]+ `, 'm'));
  }

  // The link.
  const { page: tab, complaints } = await browser.open(url);
  await tab.goto(link);
  await untilDrawn(tab);
  const heading = await tab.locator('h1').textContent();
  for (const text of ['blame prefill', 'p99 of TTFT (first_token)', ...numbers]) {
    expect(plain(heading)).toContain(text);
  }
  const blame = await tab.locator('[data-panel="blame"]').textContent();
  expect(plain(blame)).toContain(`prefill ${formatSignedMs(event.blame[0]?.excess_ms ?? 0)}`);

  // The page of the model.
  const range = `from=${new Date(fromMs).toISOString()}&to=${new Date(toMs).toISOString()}`;
  await tab.goto(`${url}/models/${model}?${range}`);
  await untilDrawn(tab);
  // They come once it is known which stages are milestones.
  const titles = async () => {
    const texts = await tab.locator('.columns-tails h2').allTextContents();
    return texts.map((title) => plain(title).replace(/[\d.,]+ m?s/, 'N'));
  };
  await soon(titles).toEqual(['TTFT: p99 N', 'TPOT: p99 N per token', 'total: p99 N']);
  await untilDrawn(tab);
  const goodput = plain(await tab.locator('.goodput').textContent());
  expect(goodput).toMatch(
    /^Goodput [\d.]+ %: of [\d,]+ requests [\d,]+ missed one of first_token 500 ms, /,
  );
  expect(plain(await tab.locator('.token-rates').textContent())).toMatch(
    /^Tokens a second: ≈ [\d,]+ in \(between [\d,]+ and [\d,]+\), ≈ [\d,]+ out /,
  );
  const facets = tab.locator('[data-panel="facets"] table caption');
  expect(await facets.allTextContents()).toEqual(['By input tokens', 'By output tokens']);
  await tab.locator('.columns-tails h2 a', { hasText: 'TTFT' }).click();
  await untilDrawn(tab);
  await soon(() => tab.locator('#composition-title').textContent()).toMatch(
    /^TTFT \(first_token\) takes \d+\sms on average: \d+ % of it prefill$/,
  );
  expect(complaints).toEqual([]);
}, 900_000);

/** The first anomaly event of the topic. */
async function published(kafka: Kafka): Promise<AnomalyEvent> {
  const consumer = kafka.consumer({ groupId: 'newcomer' });
  await consumer.connect();
  await consumer.subscribe({ topic: 'inference.latency-anomalies.v1', fromBeginning: true });
  try {
    return await new Promise<AnomalyEvent>((resolve, reject) => {
      const eachMessage = async ({ message }: EachMessagePayload) =>
        resolve(JSON.parse(String(message.value)) as AnomalyEvent);
      consumer.run({ eachMessage }).catch(reject);
    });
  } finally {
    await consumer.disconnect();
  }
}

/** A text with plain spaces before its units. */
const plain = (text: string | null) => (text ?? '').replaceAll('\u202f', ' ').trim();
