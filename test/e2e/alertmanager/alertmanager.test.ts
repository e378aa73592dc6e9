import { execFileSync } from 'node:child_process';
import { expect, it } from 'vitest';
import type { AnomalyEvent } from '../../../src/contract/anomaly-event.ts';
import { SeededRandom } from '../../base/seeded-random.ts';
import { useStack } from '../../containers/stack.ts';
import { anomalyFixture } from '../../contract/anomaly-fixture.ts';
import { poll } from '../kit/poll.ts';
import { withRig } from '../kit/with-rig.ts';
import { OutboxChild } from './outbox-child.ts';
import { alertmanagerBinary, RealAlertmanager } from './real-alertmanager.ts';

const stack = useStack();
const episodes = 50;
const rising = 10;
/** Steps of episodes between two kills of the process that delivers, and two restarts of Alertmanager. */
const stepsPerKill = 11;
const stepsPerRestart = 45;

/** One anomaly: each change is emitted once people are notified of the one before it. */
class Episode {
  readonly dedupKey: string;
  /** What people are to be notified of, in order. */
  readonly wanted: readonly string[];
  readonly #n: number;
  readonly #startedMs = Date.now() - 60_000;
  #emitted = 0;

  constructor(n: number) {
    this.#n = n;
    this.dedupKey = `tail_shift/ranker/${n}`;
    const rise = n < rising ? ['firing critical'] : [];
    this.wanted = ['firing warning', ...rise, 'resolved'];
  }

  get isOver(): boolean {
    return this.#emitted === this.wanted.length;
  }

  get emitted(): number {
    return this.#emitted;
  }

  next(): AnomalyEvent {
    const change = this.wanted[this.#emitted++];
    const hasRisen = this.#emitted > 1 && this.wanted.length > 2;
    const iso = (ms: number) => new Date(ms).toISOString();
    return anomalyFixture({
      id: `a${this.#n}`,
      dedup_key: this.dedupKey,
      revision: this.#emitted,
      started_at: iso(this.#startedMs),
      severity: hasRisen ? 'critical' : 'warning',
      state: change === 'resolved' ? 'resolved' : this.#emitted === 1 ? 'opened' : 'updated',
      ...(change === 'resolved' && { resolved_at: iso(Date.now()), resolution: 'recovered' }),
    });
  }
}

it.skipIf(alertmanagerBinary === undefined)(
  'the real Alertmanager notifies of each opening, rise and end once, while the process that delivers is killed with -9 and it is restarted itself',
  () =>
    withRig({ stack, name: 'alertmanager' }, async (rig) => {
      const manager = await RealAlertmanager.open();
      rig.atEnd(() => manager.close());
      const receiver = { type: 'alertmanager', name: 'am', urls: [manager.url] };
      const outbox = new OutboxChild({
        ...rig.env,
        TAILMARK_ALERT_RECEIVERS: JSON.stringify([receiver]),
      });
      rig.atEnd(() => outbox.kill());
      await outbox.start();
      const random = new SeededRandom(38);
      const all = Array.from({ length: episodes }, (_, n) => new Episode(n));
      const isNotified = (each: Episode) => manager.storyOf(each.dedupKey).length >= each.emitted;
      const unfinished = () => all.filter((each) => !each.isOver || !isNotified(each));
      const seen = () =>
        unfinished().map((each) => [each.dedupKey, manager.storyOf(each.dedupKey)]);
      let steps = 0;
      while (all.some((each) => !each.isOver)) {
        const ready = await poll(
          'an episode that can go on',
          () => {
            const able = all.filter((each) => !each.isOver && isNotified(each));
            return able.length === 0 ? undefined : able;
          },
          { deadlineMs: 180_000, seen },
        );
        outbox.emit(random.pick(ready).next());
        steps++;
        const isKilled = steps % stepsPerKill === 0;
        const isRestarted = steps % stepsPerRestart === 0;
        // At once, or when it is stored and may be under way.
        if (isKilled && random.chance(0.5)) {
          await poll('it is stored', () => (outbox.hasStoredAll ? true : undefined));
        }
        if (isKilled) await outbox.kill();
        if (isRestarted) await manager.stop();
        if (isKilled) await outbox.start();
        if (isRestarted) await manager.start();
      }
      await poll('each end', () => (unfinished().length === 0 ? true : undefined), {
        deadlineMs: 180_000,
        seen,
      });
      // The end is sent again and again, also by a successor, and notified once.
      await outbox.kill();
      await outbox.start();
      await poll('the watchdog', async () => {
        const url = `${manager.url}/api/v2/alerts?filter=alertname=TailmarkWatchdog`;
        const alerts = (await (await fetch(url)).json()) as unknown[];
        return alerts.length === 1 ? true : undefined;
      });
      const stories = all.map((each) =>
        manager.storyOf(each.dedupKey).map((text) => text.replace('critical+warning', 'critical')),
      );
      expect(stories).toEqual(all.map(({ wanted }) => wanted));
    }),
  600_000,
);

it.runIf(alertmanagerBinary === undefined)('says what is missing for the test', () => {
  expect(() => execFileSync('prometheus-alertmanager', ['--version'])).toThrow('ENOENT');
});
