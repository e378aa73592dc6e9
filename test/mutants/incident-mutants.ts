import type { PlantedMutant } from './planted-mutant.ts';

const grouper = 'src/detect/incident/incident-grouper.ts';
const incident = 'src/detect/incident/incident.ts';
const identity = 'src/contract/anomaly-identity.ts';
const grouperTests = [
  'test/detect/incident/incident-grouper.test.ts',
  'test/detect/detector.test.ts',
];

/** Bugs of what becomes one page, and by which name pagers know it. */
export const incidentMutants: readonly PlantedMutant[] = [
  {
    name: 'grouped-across-kinds',
    bug: 'errors join the page of a slow tail, and are resolved with it',
    file: grouper,
    find: 'kind === event.kind && !isOver && (isOfAnyModel || lead.model === event.model)',
    replace: '(kind === event.kind || !isOver) && (isOfAnyModel || lead.model === event.model)',
    tests: grouperTests,
  },
  {
    name: 'grouped-by-the-wrong-key',
    bug: 'anomalies of all models are one page where a page per model was asked for',
    file: grouper,
    find: "const isOfAnyModel = groupBy === 'cause' && !isDrift;",
    replace: 'const isOfAnyModel = !isDrift;',
    tests: grouperTests,
  },
  {
    name: 'one-key-for-two',
    bug: 'two incidents are open under one dedup key: the pager closes both with the first',
    file: grouper,
    find: 'for (let n = 2; used.has(key); n++)',
    replace: 'for (let n = 2; used.has(key) && n < 2; n++)',
    tests: grouperTests,
  },
  {
    name: 'resolved-with-the-first',
    bug: 'an incident of many series is resolved when the first of them recovers',
    file: incident,
    find: 'return this.openAnomalies.length === 0;',
    replace: "return this.lead.state === 'resolved';",
    tests: grouperTests,
  },
  {
    name: 'severity-by-the-alphabet',
    bug: 'severities are compared in the order of their names: a warning outranks critical',
    file: 'src/contract/anomaly-event.ts',
    find: "export const severities: readonly Severity[] = ['info', 'warning', 'critical'];",
    replace: "export const severities: readonly Severity[] = ['critical', 'info', 'warning'];",
    tests: grouperTests,
  },
  {
    name: 'id-from-the-wall-clock',
    bug: 'the id of an anomaly is made of the time at which it was found: after a restart it is another one',
    file: identity,
    find: 'return digestOf(`${dedupKey}@${startedAtMs}`).slice(0, 32);',
    replace:
      'return digestOf(`${dedupKey}@${Math.max(startedAtMs, performance.now() * 1e9)}`).slice(0, 32);',
    tests: [
      'test/contract/anomaly-identity.test.ts',
      'test/roles/detect/window-evaluator-restart.test.ts',
    ],
  },
  {
    name: 'dedup-key-without-the-name',
    bug: 'two objectives of one model have one dedup key: the second page is taken for the first',
    file: identity,
    find: 'digestOf(seriesKey(series) + name)',
    replace: 'digestOf(seriesKey(series))',
    tests: ['test/contract/anomaly-identity.test.ts'],
  },
];
