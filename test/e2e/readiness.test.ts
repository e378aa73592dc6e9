import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, it } from 'vitest';
import { hourMs } from '../../src/base/time.ts';
import { AnomalyStore } from '../../src/sink/anomalies/anomaly-store.ts';
import { type DeliveryRow, DeliveryStore } from '../../src/sink/anomalies/delivery-store.ts';
import { useStack } from '../containers/stack.ts';
import { anomalyFixture } from '../contract/anomaly-fixture.ts';
import { poll } from './kit/poll.ts';
import { withRig } from './kit/with-rig.ts';

const stack = useStack();

it('stays ready with a dead receiver, and says since when and what it did not get', async () => {
  let status = 503;
  const pager = createServer((request, response) => {
    request.resume().on('end', () => response.writeHead(status).end());
  });
  await new Promise<void>((resolve) => pager.listen(0, '127.0.0.1', resolve));
  const { port } = pager.address() as AddressInfo;
  const pagerUrl = `http://127.0.0.1:${port}/`;
  const receivers = [{ type: 'webhook', name: 'pager', format: 'alertmanager', url: pagerUrl }];
  const settings = { ALERT_RECEIVERS: JSON.stringify(receivers) };
  await withRig({ stack, name: 'readiness', settings }, async (rig) => {
    rig.atEnd(async () => {
      pager.closeAllConnections();
      pager.close();
    });
    // A predecessor's attempts: accepted, then two failures of one page, and another one that was refused.
    const nowMs = Date.now();
    const row = (agoMs: number, changed: Partial<DeliveryRow>): DeliveryRow => ({
      ...{ receiver: 'pager', id: 'page', revision: 1, attempt: 1, outcome: 'failed' },
      ...{
        form: 'full',
        state: 'opened',
        severity: 'critical',
        answer: '503',
        memory: '',
        mayHaveArrived: true,
      },
      ...{ atMs: nowMs - agoMs, ...changed },
    });
    await new DeliveryStore(rig.client).add([
      row(4 * hourMs, { id: 'earlier' }),
      row(3 * hourMs, { id: 'earlier', attempt: 2, outcome: 'accepted', answer: '200' }),
      row(2 * hourMs, {}),
      row(hourMs, { attempt: 2 }),
      row(hourMs, { id: 'bad', outcome: 'refused', answer: '400 no such key' }),
      row(hourMs, { receiver: 'chat', id: 'bad', outcome: 'refused' }),
      row(30 * hourMs, { id: 'old', outcome: 'expired' }),
    ]);
    const started_at = new Date(nowMs).toISOString();
    const event = anomalyFixture({ id: 'page', started_at, detected_at: started_at });
    await new AnomalyStore(rig.client).add(event);
    const { url } = await rig.start(['detect', 'serve']);
    const untilReady = (has: (body: string) => boolean) => {
      let last = '';
      return poll(
        'the state of readiness',
        async () => {
          const response = await fetch(`${url}/readyz`);
          last = await response.text();
          return response.status === 200 && has(last) ? last.trimEnd().split('\n') : undefined;
        },
        { seen: () => last },
      );
    };
    const iso = (ms: number) => new Date(ms).toISOString().replace(/\.\d+Z$/, 'Z');
    const refused = `alert: an event to pager was given up in the last 24 h (see \`tailmark anomalies --deliveries\`); the last: anomaly bad, refused at ${iso(nowMs - hourMs)}: 400 no such key`;
    const away = await untilReady((body) => body.includes('accepted nothing'));
    expect(away).toEqual([
      'ready',
      expect.stringMatching(
        new RegExp(
          `^alert: pager has accepted nothing for 2 h, since ${iso(nowMs - 2 * hourMs)}; it is tried again. Its last answer: 503`,
        ),
      ),
      refused,
    ]);
    status = 200;
    const back = await untilReady((body) => !body.includes('accepted nothing'));
    expect(back).toEqual(['ready', refused]);
    // The answer is known before its row is stored.
    const accepted =
      /^ {2}to: {5}pager +\d{4}-\d\d-\d\d [\d:]{8} UTC {2}opened {4}accepted, \d+ attempts$/m;
    let listed = '';
    await poll(
      'the accepted delivery',
      async () => {
        listed = (await rig.cli(['anomalies', '--deliveries'])).out;
        return accepted.exec(listed) ?? undefined;
      },
      { seen: () => listed },
    );
    const wrong = await rig.cli(['anomalies', '--limit', 'many']);
    expect([wrong.exitCode, wrong.err]).toEqual([
      64,
      expect.stringContaining('--limit must be a whole number from 1 to 10000: it is "many"'),
    ]);
  });
});
