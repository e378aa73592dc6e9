import type { PlantedMutant } from './planted-mutant.ts';

const lane = 'src/alert/outbox/lane.ts';
const feed = 'src/alert/outbox/feed.ts';
const outboxTests = [
  'test/alert/outbox/outbox.test.ts',
  'test/alert/outbox/outbox-retries.test.ts',
  'test/alert/outbox/outbox-kills.test.ts',
  'test/alert/outbox/outbox-storm.test.ts',
];
const http = 'src/alert/http/answer-of-http.ts';
const httpTests = ['test/alert/http/answer-of-http.test.ts'];

/** Bugs on the way to pagers. */
export const alertMutants: readonly PlantedMutant[] = [
  {
    name: 'resolved-before-opened',
    bug: 'anomalies of one key overtake each other: the page is resolved, then opened, and stays',
    file: lane,
    find: 'return this.#byKey.get(item.dedupKey)?.find((each) => !this.#owesRest(each)) === id;',
    replace: 'return this.#byKey.has(item.dedupKey) || id === item.dedupKey;',
    tests: outboxTests,
  },
  {
    name: 'one-bad-anomaly-holds-all',
    bug: 'an anomaly that always fails closes the lane: every page behind it waits',
    file: lane,
    find: 'const failuresToClose = 2;',
    replace: 'const failuresToClose = 1;',
    tests: outboxTests,
  },
  {
    name: 'hammered-receiver',
    bug: 'a receiver that is away is asked for all anomalies at once, again and again',
    file: lane,
    find: 'const failuresToClose = 2;',
    replace: 'const failuresToClose = 100_000;',
    tests: outboxTests,
  },
  {
    name: 'slow-return',
    bug: 'after half an hour away a receiver waits for minutes until it is tried again',
    file: 'src/alert/outbox/retry-policy.ts',
    find: 'shareOfOutage: 1 / 180,',
    replace: 'shareOfOutage: 1 / 5,',
    tests: outboxTests,
  },
  {
    name: 'night-for-nothing',
    bug: 'a pager rings for what was over long before it could ring',
    file: feed,
    find: 'return wantsPast',
    replace: 'return wantsPast || isEnd',
    tests: outboxTests,
  },
  {
    name: 'end-of-unanswered',
    bug: 'a page whose opening was accepted after the time-out is never closed',
    file: lane,
    find: 'if (answer.mayHaveArrived) item.feed.doubt();',
    replace: '',
    tests: outboxTests,
  },
  {
    name: 'end-of-unrecorded',
    bug: 'a page whose acceptance was not recorded, as the process was killed, is never closed',
    file: 'src/alert/outbox/delivered-before.ts',
    find: 'mayHaveArrived: settled?.mayHaveArrived ?? false,',
    replace: 'mayHaveArrived: false,',
    tests: outboxTests,
  },
  {
    name: 'end-of-nothing',
    bug: 'a receiver that was away gets the end of what it never got, after a kill',
    file: 'src/alert/outbox/delivered-before.ts',
    find: 'mayHaveArrived: settled?.mayHaveArrived ?? false,',
    replace: 'mayHaveArrived: true,',
    tests: outboxTests,
  },
  {
    name: 'hammered-chat',
    bug: 'a chat that answers late shows the same message every second',
    file: lane,
    find: 'item.unanswered++;',
    replace: 'item.unanswered += 0;',
    tests: outboxTests,
  },
  {
    name: 'muted-end',
    bug: 'a mute holds back the end of what was delivered before: the page stays open',
    file: feed,
    find: "if (isEnd) return { kind: 'deliver', event, change: 'resolved' };",
    replace: "if (isEnd && !isMuted) return { kind: 'deliver', event, change: 'resolved' };",
    tests: outboxTests,
  },
  {
    name: 'endless-renewal',
    bug: 'the end of an alert is sent again for ever',
    file: lane,
    find: 'if (item.renewAtMs > item.renewUntilMs) item.renewAtMs = undefined;',
    replace: 'if (item.renewAtMs < 0) item.renewAtMs = undefined;',
    tests: outboxTests,
  },
  {
    name: 'forgotten-history',
    bug: 'a new receiver gets what was over before it was configured',
    file: 'src/alert/outbox/delivered-before.ts',
    find: "if (newest?.event.state === 'resolved' && isEarlier(newest)) return undefined;",
    replace: '',
    tests: outboxTests,
  },
  {
    name: 'no-retry-when-it-restarts',
    bug: 'a receiver that restarts loses the page: 5xx is not tried again soon',
    file: http,
    find: 'if (status >= 500 || passing.has(status))',
    replace: 'if (passing.has(status))',
    tests: httpTests,
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
