import { describe, it } from 'vitest';
import { useStack } from '../containers/stack.ts';
import { expectOnceEach } from './kit/run-assembly.ts';
import { withRig } from './kit/with-rig.ts';

const stack = useStack();

describe('traces that are assembled while their process is killed', () => {
  it('are one event each after four kills, and ingest counts them so', () =>
    withRig({ stack, name: 'assemble', partitions: 2 }, (rig) => expectOnceEach(rig, 4)));
});
