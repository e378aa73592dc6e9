import type { PlantedMutant } from './planted-mutant.ts';

const arrivals = 'src/roles/detect/completeness/arrival-completeness.ts';
const track = 'src/roles/detect/completeness/partition-track.ts';
const health = 'src/roles/detect/pipeline-health.ts';
const arrivalTests = ['test/roles/detect/completeness/arrival-completeness.test.ts'];
const healthTests = ['test/roles/detect/pipeline-health.test.ts'];

/** Bugs of what counts as all of the traffic, and as silence. */
export const completenessMutants: readonly PlantedMutant[] = [
  {
    name: 'silence-of-ours',
    bug: 'no traffic is concluded while records wait in Kafka: an outage of the store pages as one of the traffic',
    file: arrivals,
    find: 'if (tracks.length === 0 || tracks.some(({ lagMessages }) => lagMessages > 0)) return undefined;',
    replace: 'if (tracks.length === 0) return undefined;',
    tests: [...arrivalTests, ...healthTests],
  },
  {
    name: 'idle-though-behind',
    bug: 'a partition that has stored nothing for long is idle, though records wait in it',
    file: arrivals,
    find: 'if (isLive || track.lagMessages > 0) return true;',
    replace: 'if (isLive) return true;',
    tests: arrivalTests,
  },
  {
    name: 'one-partition-blinds-all',
    bug: 'windows wait for ever for the partition of one host that stands still',
    file: track,
    find: '      this.#isGivenUp = true;\n',
    replace: '      this.#isGivenUp = false;\n',
    tests: arrivalTests,
  },
  {
    name: 'part-of-the-traffic-is-all',
    bug: 'while windows are judged without a partition, its traffic is reported as fallen',
    file: arrivals,
    find: '!isAway && displaced.length === 0 && !tracks.some((track) => track.isGivenUp);',
    replace: '!isAway && displaced.length === 0;',
    tests: arrivalTests,
  },
  {
    name: 'part-is-judged-as-all',
    bug: 'the detector is not told that part of the traffic is missing',
    file: 'src/roles/detect/window-evaluator.ts',
    find: 'await this.#evaluate(at, hasAllTraffic);',
    replace: 'await this.#evaluate(at, hasAllTraffic || true);',
    tests: ['test/roles/detect/window-evaluator.test.ts'],
  },
  {
    name: 'old-offsets-of-a-new-topic',
    bug: 'a topic that was deleted and made again counts as read, up to where the old one was',
    file: track,
    find: 'if (isNewer && endOffset !== undefined && endOffset < this.#storedOffset) this.#reset();',
    replace: '',
    tests: arrivalTests,
  },
  {
    name: 'every-hiccup-warns',
    bug: 'the pipeline warns of every flush that takes a second longer',
    file: health,
    find: 'nowMs - startedMs >= afterMs',
    replace: 'nowMs - startedMs >= Math.min(0, afterMs)',
    tests: healthTests,
  },
  {
    name: 'warned-again-after-a-restart',
    bug: 'an outage that goes on over a restart is reported as another one, and the first is never resolved',
    file: health,
    find: '      if (event !== undefined) this.#open.set(cause, event);\n',
    replace: '',
    tests: healthTests,
  },
];
