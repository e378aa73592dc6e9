import type { PlantedMutant } from './planted-mutant.ts';

const webhook = 'src/alert/webhook-target.ts';
const webhookTests = ['test/alert/webhook-target.test.ts'];

/** Bugs on the way to pagers. */
export const alertMutants: readonly PlantedMutant[] = [
  {
    name: 'resolved-before-opened',
    bug: 'events of one incident overtake each other: the page is resolved, then opened, and stays',
    file: 'src/alert/alert-dispatcher.ts',
    find: '({ event }) => !this.#busyKeys.has(event.dedup_key)',
    replace: "({ event }) => !this.#busyKeys.has('') || event.id === ''",
    tests: ['test/alert/alert-dispatcher.test.ts'],
  },
  {
    name: 'slow-target-holds-all',
    bug: 'one event at a time: a receiver that answers slowly holds up every page behind it',
    file: 'src/alert/alert-dispatcher.ts',
    find: 'const maxConcurrent = 8;',
    replace: 'const maxConcurrent = 1;',
    tests: ['test/alert/alert-dispatcher.test.ts'],
  },
  {
    name: 'no-retry-when-it-restarts',
    bug: 'a receiver that restarts loses the page: 5xx is not tried again',
    file: webhook,
    find: 'if (status < 500 && status !== tooManyRequests) return',
    replace: 'if (status !== tooManyRequests) return',
    tests: webhookTests,
  },
  {
    name: 'retry-of-a-refusal',
    bug: 'a request that will never be taken is sent again and again',
    file: webhook,
    find: 'if (status < 500 && status !== tooManyRequests) return',
    replace: 'if (status < 400 && status !== tooManyRequests) return',
    tests: webhookTests,
  },
  {
    name: 'retry-after-in-milliseconds',
    bug: 'Retry-After: 2 is taken for two milliseconds',
    file: webhook,
    find: 'retryAfterMs: seconds * 1000',
    replace: 'retryAfterMs: seconds',
    tests: webhookTests,
  },
  {
    name: 'keyed-by-the-id',
    bug: 'events of one incident lie in several partitions, and are read in any order',
    file: 'src/alert/kafka-target.ts',
    find: 'key: event.dedup_key',
    replace: 'key: `${event.id}-${event.revision}`',
    tests: ['test/alert/kafka-target.test.ts'],
  },
  {
    name: 'one-id-for-all-revisions',
    bug: 'an update has the id of the event before it: receivers drop it as a duplicate',
    file: 'src/alert/cloud-event.ts',
    find: 'id: `${event.id}-${event.revision}`,',
    replace: 'id: event.id,',
    tests: ['test/alert/cloud-event.test.ts'],
  },
  {
    name: 'signature-without-the-time',
    bug: 'the signature does not cover the time: a request can be sent again at any time',
    file: 'src/alert/webhook-signature.ts',
    find: '`${id}.${timestampSeconds}.${body}`',
    replace: '`${id}.${body}`',
    tests: ['test/alert/webhook-signature.test.ts'],
  },
];
