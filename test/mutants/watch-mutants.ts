import type { PlantedMutant } from './planted-mutant.ts';

const evaluator = 'src/roles/detect/window-evaluator.ts';
const replay = 'src/roles/detect/detector-replay.ts';
const loop = 'src/roles/detect/leader-loop.ts';
const evaluatorTests = [
  'test/roles/detect/window-evaluator.test.ts',
  'test/roles/detect/window-evaluator-restart.test.ts',
];
const restartTests = ['test/roles/detect/window-evaluator-restart.test.ts'];
const late = 'src/roles/detect/late-requests.ts';
const reevaluationTests = ['test/roles/detect/reevaluation.test.ts'];
const lateTests = ['test/roles/detect/late-requests.test.ts', ...reevaluationTests];
const loopTests = ['test/roles/detect/leader-loop.test.ts'];

/** Bugs of which windows are evaluated, when, by whom, and what is put on record about it. */
export const watchMutants: readonly PlantedMutant[] = [
  {
    name: 'window-judged-without-grace',
    bug: 'a window is evaluated as soon as the watermark is past it: what comes a second later is not seen',
    file: evaluator,
    find: 'floor(completeness.completeMs - config.windows.grace, windowMs)',
    replace: 'floor(completeness.completeMs, windowMs)',
    tests: evaluatorTests,
  },
  {
    name: 'fastest-partition-counts',
    bug: 'windows are complete by the partition that is ahead, not by the one that is behind (Flink: minimum of inputs)',
    file: 'src/sink/windows/window-progress.ts',
    find: 'Math.min(...active.map((partition) => partition.watermarkMs))',
    replace: 'Math.max(...active.map((partition) => partition.watermarkMs))',
    tests: ['test/sink/windows/window-progress.test.ts'],
  },
  {
    name: 'emitted-without-the-lead',
    bug: 'who has lost the lead while it waited for a query goes on to emit: two processes page',
    file: evaluator,
    find: `    // The lead may have been lost during the queries.
    this.#requireLead();`,
    replace: '',
    tests: evaluatorTests,
  },
  {
    name: 'emitted-anew-by-the-successor',
    bug: 'a successor does not ask what is on record: the same revision goes out with other contents',
    file: evaluator,
    find: 'const before = await this.#store.stored(event.id, event.revision);',
    replace: `const before = await this.#store.stored(event.id, 0);`,
    tests: evaluatorTests,
  },
  {
    name: 'event-lost-with-the-table',
    bug: 'an event that could not be stored is dropped, and the anomaly is open without a page (retry dropped)',
    file: evaluator,
    find: `      await this.#publish(next);
      this.#unstored.shift();`,
    replace: `      this.#unstored.shift();
      await this.#publish(next);`,
    tests: evaluatorTests,
  },
  {
    name: 'half-a-snapshot',
    bug: 'a snapshot is loaded of which parts are gone',
    file: 'src/sink/anomalies/state-store.ts',
    find: 'if (Number(row?.parts) !== parts) continue;',
    replace: 'if (Number(row?.parts) === 0) continue;',
    tests: restartTests,
  },
  {
    name: 'snapshot-over-the-last',
    bug: 'a snapshot is written over the last whole one: a crash in between leaves none',
    file: 'src/sink/anomalies/state-store.ts',
    find: 'const slot = (this.#slot + 1) % slots;',
    replace: 'const slot = this.#slot % slots;',
    tests: restartTests,
  },
  {
    name: 'emitted-while-catching-up',
    bug: 'a successor that re-evaluates what was evaluated emits it again',
    file: replay,
    find: '      detector.observeAll(steps);\n',
    replace: `      for (const event of detector.observeAll(steps)) await this.#options.store.add(event, toMs);
`,
    tests: restartTests,
  },
  {
    name: 'empty-windows-left-out',
    bug: 'windows without any request are skipped: nothing is ever over, and a stop is not seen',
    file: 'src/sink/windows/each-window.ts',
    find: '  yield at;\n',
    replace: '  if (at.windows.length > 0) yield at;\n',
    tests: ['test/sink/windows/each-window.test.ts'],
  },
  {
    name: 'window-lost-between-reads',
    bug: 'the last window of what is read at once is left out (off by one at the border of pages)',
    file: 'src/sink/windows/each-window.ts',
    find: '  yield* decoder.end();\n',
    replace: '',
    tests: ['test/sink/windows/each-window.test.ts'],
  },
  {
    name: 'windows-of-a-series-run-together',
    bug: 'rows of one series that follow each other become one window, though they are of two',
    file: 'src/sink/windows/window-decoder.ts',
    find: '    this.#series = undefined;\n',
    replace: '',
    tests: ['test/sink/windows/read-windows.test.ts'],
  },
  {
    name: 'row-lost-between-parts',
    bug: 'a row whose end comes with the next part of the response is lost',
    file: 'src/sink/windows/window-decoder.ts',
    find: 'this.#rest = Buffer.from(bytes.subarray(from));',
    replace: 'this.#rest = Buffer.alloc(0);',
    tests: ['test/sink/windows/window-decoder.test.ts'],
  },
  {
    name: 'too-much-is-asked-for-again',
    bug: 'what ClickHouse refuses for its size is asked for again as it was, for ever',
    file: 'src/sink/windows/piece-size.ts',
    find: '    this.#next = this.#limit;\n',
    replace: '',
    tests: ['test/sink/windows/piece-size.test.ts'],
  },
  {
    name: 'places-by-the-name',
    bug: 'of more series than are evaluated, not those with the most requests get a place',
    file: 'src/detect/admission/admission.ts',
    find: 'return b.amount - a.amount || hashOf',
    replace: 'return hashOf',
    tests: ['test/detect/admission/series-slots.test.ts'],
  },
  {
    name: 'place-lost-with-an-open-anomaly',
    bug: 'a series loses its place while its anomaly is open, which then is never resolved',
    file: 'src/detect/admission/admission.ts',
    find: 'held.filter(({ key }) => !isFixed(key)).reverse()',
    replace: '[...held].reverse()',
    tests: ['test/detect/admission/series-slots.test.ts'],
  },
  {
    name: 'failures-never-forgotten',
    bug: 'three failed steps in a year make the role not ready for ever',
    file: loop,
    find: `      await this.#evaluator?.step();
      this.#failures = 0;`,
    replace: '      await this.#evaluator?.step();',
    tests: loopTests,
  },
  {
    name: 'old-state-after-the-lead-is-back',
    bug: 'who leads again goes on with what it knew before, though another one has evaluated since',
    file: loop,
    find: `    this.#evaluator = undefined;
    this.#failures = 0;`,
    replace: '    this.#failures = 0;',
    tests: loopTests,
  },
  {
    name: 'late-data-is-never-judged',
    bug: 'what comes after a window was evaluated is in the tables, and nobody looks: a fault of one host is not seen',
    file: late,
    find: 'return nowMs >= this.#nextQueryMs;',
    replace: 'return nowMs >= Math.max(this.#nextQueryMs, Number.POSITIVE_INFINITY);',
    tests: lateTests,
  },
  {
    name: 'judged-again-pages-again',
    bug: 'with more requests an anomaly began earlier and has another id: it pages a second time',
    file: 'src/sink/anomalies/emitted-ids.ts',
    find: '(overMs.get(dedupKeyOfSeries(dedup_key)) ?? -Infinity)',
    replace: '(overMs.get(id + dedup_key) ?? -Infinity)',
    tests: ['test/sink/anomalies/emitted-ids.test.ts', ...reevaluationTests],
  },
  {
    name: 'judged-again-while-behind',
    bug: 'windows are re-evaluated while a partition still stores what it has: on a part of the traffic, and again',
    file: late,
    find: 'if (behind.length > 0 || kafkaOutage',
    replace: 'if (behind.length < 0 || kafkaOutage',
    tests: lateTests,
  },
  {
    name: 'judged-again-every-time',
    bug: 'windows are re-evaluated whenever something comes late: a producer that always does takes all of the time',
    file: late,
    find: 'if (nowMs < this.#nextReevaluationMs) return undefined;',
    replace: 'if (nowMs < Math.min(0, this.#nextReevaluationMs)) return undefined;',
    tests: lateTests,
  },
  {
    name: 'snapshot-with-part-of-the-traffic',
    bug: 'snapshots go on while a partition is left out: none is left of before, and windows cannot be re-evaluated',
    file: evaluator,
    find: 'const isHeld = this.#reevaluateFromMs !== undefined || this.#late.holdsSnapshots(asOfMs);',
    replace: 'const isHeld = this.#reevaluateFromMs !== undefined;',
    tests: reevaluationTests,
  },
  {
    name: 'half-a-detector-is-saved',
    bug: 'a process that ends while windows are re-evaluated saves a detector that knows nothing',
    file: evaluator,
    find: 'const isHeld = this.#reevaluateFromMs !== undefined || this.#late.holdsSnapshots(asOfMs);',
    replace: 'const isHeld = this.#late.holdsSnapshots(asOfMs);',
    tests: reevaluationTests,
  },
  {
    name: 'recording-does-not-wait',
    bug: 'windows of a recording are complete by its latest event: whatever is out of order is late',
    file: 'src/backtest/memory-windows.ts',
    find: 'this.#latestStartMs - PATIENCE_MS',
    replace: 'this.#latestStartMs - PATIENCE_MS / 60',
    tests: ['test/backtest/memory-windows.test.ts', 'test/backtest/backtest.test.ts'],
  },
];
