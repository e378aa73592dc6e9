import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { exitCodes } from '../../src/base/exit-codes.ts';
import { createKafkaClient } from '../../src/kafka/client/kafka-client.ts';
import { useStack } from '../containers/stack.ts';
import { benchMessages } from './kit/bench-messages.ts';
import { poll } from './kit/poll.ts';
import type { Rig } from './kit/rig.ts';
import type { Child } from './kit/start-child.ts';
import { withRig } from './kit/with-rig.ts';

const stack = useStack();

/** A page of the process's own. */
async function page(child: Child, path: string): Promise<{ status: number; text: string }> {
  const [, url] = /metrics at (http:\S+?)"/.exec(child.err()) ?? [];
  const answer = await fetch(`${url}${path}`);
  return { status: answer.status, text: await answer.text() };
}

describe('run --workers', () => {
  it('shares the partitions, counts each event once, and shows the sums of all workers', () =>
    withRig({ stack, name: 'workers', partitions: 4 }, async (rig) => {
      const { messages, events, truth } = benchMessages('workers', 20_000, 10);
      const dir = mkdtempSync(join(tmpdir(), 'tailmark-workers-'));
      rig.atEnd(async () => rmSync(dir, { recursive: true, force: true }));
      const profile = ['--profile', join(dir, 'run')];
      const child = rig.spawn(['run', '--roles', 'ingest,serve', '--workers', '2', ...profile]);
      await child.logged('health and metrics');
      await poll('both workers have partitions', () => {
        const takers = child
          .err()
          .split('\n')
          .filter((line) => line.includes('"partition assigned"'))
          .map((line) => (JSON.parse(line) as { worker: number }).worker);
        // The last generation is that in which each has two of the four.
        const last = takers.slice(-4).sort();
        return String(last) === '1,1,2,2' ? true : undefined;
      });
      await rig.publish(messages.map((value, n) => ({ value, partition: n % 4 })));
      await rig.untilConsumed(events);
      await poll('the sums of both', async () => {
        const { text } = await page(child, '/metrics');
        return text.includes(`\ntailmark_events_consumed_total{topic="${rig.topic}"} ${events}\n`)
          ? true
          : undefined;
      });
      // Each checks every five seconds.
      await poll('no partition has a lag', async () => {
        const { text } = await page(child, '/metrics');
        return text.match(/^tailmark_lag_messages\{.*\} 0$/gm)?.length === 4 ? true : undefined;
      });
      const { text } = await page(child, '/metrics');
      for (const name of ['event_loop_delay_seconds', 'event_stored_delay_seconds_count']) {
        expect(text).toMatch(new RegExp(`^tailmark_${name} [0-9.]+$`, 'm'));
      }
      // Of the process, once.
      expect(text.match(/^process_start_time_seconds [0-9.]+$/gm)).toHaveLength(1);
      expect(text.match(/^tailmark_build_info\{.*\} 1$/gm)).toHaveLength(1);
      expect(await page(child, '/readyz')).toEqual({ status: 200, text: 'ready\n' });
      child.signal('SIGTERM');
      expect(await child.exited).toBe(0);
      expect(child.err()).toContain('everything read is stored');
      await rig.expectStages(truth);
      expect(readdirSync(dir).sort()).toEqual(['run', 'run.1', 'run.2']);
      expect(readFileSync(join(dir, 'run.1'), 'utf8')).toContain('"functionName":"onBatch"');
      const instances = await rig.rows<{ instance: string }>(
        'SELECT DISTINCT instance FROM flushes ORDER BY instance',
      );
      expect(instances.map(({ instance }) => instance.split('/').slice(-2).join('/'))).toEqual([
        `${child.pid}/1`,
        `${child.pid}/2`,
      ]);
    }));

  it('ends with the error of a worker that cannot continue, and its exit code', () =>
    withRig({ stack, name: 'workers-end', partitions: 2 }, async (rig) => {
      const [message] = benchMessages('workers-end', 10, 10).messages;
      if (message === undefined) throw new Error('no message');
      await rig.publish([{ value: message, partition: 0 }]);
      await commitOfAnotherVersion(rig);
      const child = rig.spawn(['run', '--roles', 'ingest', '--workers', '2']);
      expect(await child.exited).toBe(exitCodes.config);
      expect(child.err()).toContain('TAILMARK_COMMIT_VERSION');
      expect(child.err()).toContain('it is of tailmark/99');
    }));
});

async function commitOfAnotherVersion(rig: Rig): Promise<void> {
  const { topic } = rig;
  const groupId = rig.config.kafka.group_id;
  const consumer = createKafkaClient(rig.config.kafka).consumer({ groupId });
  await consumer.connect();
  await consumer.subscribe({ topics: [topic], fromBeginning: true });
  const metadata = '{"v":"tailmark/99"}';
  const committed = new Promise<void>((resolve, reject) => {
    const eachMessage = async () => {
      const commit = { topic, partition: 0, offset: '1', metadata };
      await consumer.commitOffsets([commit]);
      resolve();
    };
    consumer.run({ autoCommit: false, eachMessage }).catch(reject);
  });
  await committed;
  await consumer.stop();
  await consumer.disconnect();
}
