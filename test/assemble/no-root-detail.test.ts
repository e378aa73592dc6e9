import { expect, it } from 'vitest';
import { outcomeOf } from '../../src/assemble/event/trace-outcome.ts';
import { childrenRules } from '../../src/assemble/event/trace-rules.ts';
import type { TraceSpan } from '../../src/assemble/trace.ts';

/** A span whose parent is elsewhere. */
const child: TraceSpan = {
  ...{ idHigh: 0, idLow: 2, parentHigh: 0, parentLow: 1, name: 'GET', service: 's' },
  ...{ isShared: false, endIsSet: true, durationMs: 1, bytes: 1 },
  ...{ fields: undefined, full: undefined },
};

it.each([
  [1, 'its only span is none'],
  [2, 'none of its 2 spans is one'],
])('a trace of %i spans without a root says so', (count, said) => {
  const spans = Array.from({ length: count }, () => child);
  const trace = { traceId: 'a', offset: 0, index: 0, spans, spansLeftOut: 0, duplicates: 0 };
  expect(outcomeOf({ ...trace, cause: 'wait' }, childrenRules)).toEqual({
    reason: 'no_root',
    detail: `The trace must have a root, and ${said}.`,
  });
});
