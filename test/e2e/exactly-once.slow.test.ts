import { describe, expect, it } from 'vitest';
import { Random } from '../../src/generate/random.ts';
import { useStack } from '../containers/stack.ts';
import { benchMessages } from './kit/bench-messages.ts';
import { kill, killInChunk, ledger, spread, storing, taken } from './kit/killed-members.ts';
import { withRig } from './kit/with-rig.ts';

const stack = useStack();
const ingest = ['run', '--roles', 'ingest'];

describe('kill -9', () => {
  const partitions = 3;

  it(
    'of members that come, go and stand still counts everything once',
    () =>
      withRig(
        {
          stack,
          name: 'kill',
          partitions,
          // Many small chunks: most kills hit between a chunk's intent and its last commit.
          settings: { INGEST_FLUSH_INTERVAL: '100ms', INGEST_FLUSH_MAX_EVENTS: '700' },
        },
        async (rig) => {
          const random = new Random('kill -9');
          const { messages, events, truth } = benchMessages('kill', 150_000, 10);
          await rig.publish(spread(messages, partitions));

          // Another member comes while chunks are being stored; both die, one after the other.
          const first = rig.spawn(ingest);
          await storing(rig, first, random);
          const second = rig.spawn(ingest);
          await second.logged('partition assigned');
          await kill(first);
          expect(await killInChunk(rig, second), 'chunks begun and not ended').toBeGreaterThan(0);

          // Of three, two die and one stands still until another has everything; then it resumes.
          const [third, fourth, zombie] = [rig.spawn(ingest), rig.spawn(ingest), rig.spawn(ingest)];
          await Promise.all([
            storing(rig, third, random),
            fourth.logged('partition assigned'),
            zombie.logged('partition assigned'),
          ]);
          zombie.signal('SIGSTOP');
          await kill(third);
          await kill(fourth);
          const successor = rig.spawn(ingest);
          await successor.logged('partition assigned', partitions);
          const takenBefore = taken(zombie);
          zombie.signal('SIGCONT');
          await zombie.logged('partition assigned', takenBefore + 1);

          // One leaves in good order while chunks are being stored.
          successor.signal('SIGTERM');
          // On a busy machine it may leave some of it to the last one, and then it ends with 1.
          expect([0, 1]).toContain(await successor.exited);
          expect(await rig.consumed(), 'nothing was left for the last one').toBeLessThan(events);

          await rig.untilConsumed(events);
          await rig.expectStages(truth);
          const records = messages.length / partitions;
          expect(await ledger(rig)).toEqual(
            Array.from({ length: partitions }, (_, n) => [n, 0, records, records]),
          );
        },
      ),
    240_000,
  );
});
