import { expect, it } from 'vitest';
import { minuteMs } from '../../src/base/time.ts';
import { useStack } from '../containers/stack.ts';
import { withRig } from './kit/with-rig.ts';
import { store, trafficOf } from './views/view-traffic.ts';

const stack = useStack();

it('a flag that names what no request has says what there is; who asked for it fails, a verdict stays open', () =>
  withRig({ stack, name: 'unknown-names' }, async (rig) => {
    const fromMs = Math.floor((Date.now() - 20 * minuteMs) / minuteMs) * minuteMs;
    const of = (model: string, version: string) =>
      trafficOf({ name: version, model, version, fromMs, requests: 100, minutes: 10 });
    await store(rig, [...of('ranker', 'v1'), ...of('ranker', 'v2'), ...of('embedder', 'w1')]);
    const models = 'Known models: ranker, embedder.\n';
    const cases: readonly (readonly [readonly string[], string])[] = [
      [['tails', '--model', 'rnker'], `No request of model "rnker" is stored. ${models}`],
      [
        ['tails', '--model', 'ranker', '--model-version', 'v3'],
        'No request of model "ranker" has the version "v3". Known versions: v1, v2.\n',
      ],
      [
        ['tails', '--stage', 'featurs', '--json'],
        'No request has the stage "featurs". Known stages: features, forward, queue, total.\n',
      ],
      [
        ['tails', '--region', 'eu-west'],
        'No request has the region "eu-west". Known regions: eu-west-1, us-east-1.\n',
      ],
      [
        ['tails', '--model', 'ranker', '--request-type', 'ranks'],
        'No request of model "ranker" has the request type "ranks". Known request types: rank, search.\n',
      ],
      [['anomalies', '--model', 'rankr'], `No request of model "rankr" is stored. ${models}`],
      [
        ['compare', '--model', 'ranker', '--a', 'v1', '--b', 'v2', '--region', 'us'],
        'No request of model "ranker" has the region "us". Known regions: eu-west-1, us-east-1.\n',
      ],
      [
        [
          ...['compare', '--model', 'ranker', '--a', 'v9', '--b', 'v2'],
          ...['--a-from', '20m', '--a-to', '15m', '--b-from', '15m', '--b-to', '10m'],
        ],
        'No request of model "ranker" has the version "v9". Known versions: v1, v2.\n',
      ],
    ];
    for (const [argv, sentence] of cases) {
      const { exitCode, err } = await rig.cli(argv);
      const expected = argv[0] === 'compare' ? 0 : 1;
      expect([argv, exitCode, err.startsWith(sentence) ? sentence : err]).toEqual([
        ...[argv, expected, sentence],
      ]);
    }
    // Known names without a request in the range are no mistake.
    const { exitCode, err } = await rig.cli([
      ...['tails', '--model', 'ranker', '--since', '3d', '--until', '2d'],
    ]);
    expect([exitCode, err]).toEqual([0, expect.stringMatching(/^No requests in this range\./)]);
  }));
