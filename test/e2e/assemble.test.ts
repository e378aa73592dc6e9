import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { Random } from '../../src/generate/random.ts';
import { useStack } from '../containers/stack.ts';
import { runKilledAssembly } from './kit/run-assembly.ts';
import { withRig } from './kit/with-rig.ts';

const stack = useStack();
const KILLS = Number(process.env.ASSEMBLE_KILLS ?? 4);

describe('traces that are assembled while their process is killed', () => {
  it(`are one event each after ${KILLS} kills, and ingest counts them so`, () =>
    withRig({ stack, name: 'assemble', partitions: 2 }, async (rig) => {
      const path = join(mkdtempSync(join(tmpdir(), 'assemble-')), 'tailmark.yaml');
      await rig.start(['ingest']);
      const random = new Random('assemble');
      const onKill = (n: number) => process.stderr.write(`killed ${n} of ${KILLS}\n`);
      const { problems, events } = await runKilledAssembly(rig, path, {
        kills: KILLS,
        random,
        onKill,
      });
      expect(problems.slice(0, 20)).toEqual([]);
      await rig.untilConsumed(events);
      expect(await rig.consumed()).toBe(events);
    }));
});
