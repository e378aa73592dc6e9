import { expect, it } from 'vitest';
import type { Logger } from '../../../src/base/telemetry/log.ts';
import { createMetrics } from '../../../src/base/telemetry/metrics.ts';
import { minuteMs } from '../../../src/base/time.ts';
import type { ClickHouseClient } from '../../../src/sink/client/clickhouse.ts';
import {
  conflictingGroups,
  groupConflict,
  type StoringGroup,
  TopicGroups,
} from '../../../src/sink/guard/topic-groups.ts';

const storedMs = Date.parse('2026-11-01T12:00:00Z');
const group = (groupId: string, ageMs: number, log = 'c/t'): StoringGroup => {
  return { topic: 't', log, groupId, storedMs, ageMs };
};

function watched(isAllowed = false) {
  const lines: object[] = [];
  const log = { error: (fields: object) => lines.push(fields) } as unknown as Logger;
  const metrics = createMetrics();
  const client = {} as ClickHouseClient;
  const groups = new TopicGroups({
    ...{ client, groupId: 'g1', topics: ['t'], isAllowed, metrics, log },
  });
  const count = async () => (await metrics.topicGroups.get()).values[0]?.value;
  return { groups, lines, count };
}

it('is a problem while another group stores the same log, and not after', async () => {
  const { groups, lines, count } = watched();
  groups.found([group('g1', 1_000)]);
  expect([groups.problems(), await count()]).toEqual([[], 1]);
  const rows = [group('g3', 2_000), group('g1', 3_000), group('g2', minuteMs)];
  groups.found(rows);
  groups.found(rows);
  expect([groups.problems(), groups.notes()]).toEqual([
    ['ingest: groups g3 and g2 store topic t into the same database: every event counts twice'],
    [],
  ]);
  expect(await count()).toBe(3);
  expect(lines).toMatchObject([{ other_group_id: 'g3' }, { other_group_id: 'g2' }]);
  groups.found([group('g1', 0), group('g3', 2_000), group('g2', 5 * minuteMs)]);
  expect(groups.problems()).toEqual([
    'ingest: group g3 stores topic t into the same database: every event counts twice',
  ]);
  groups.found([group('g1', 0), group('g3', 5 * minuteMs), group('g2', 9 * minuteMs)]);
  expect([groups.problems(), await count()]).toEqual([[], 3]);
});

it('is a note where it is allowed', () => {
  const { groups } = watched(true);
  groups.found([group('g1', 0), group('g2', 0)]);
  expect(groups.problems()).toEqual([]);
  expect(groups.notes()).toEqual([
    'ingest: group g2 stores topic t into the same database: every event counts twice',
  ]);
});

it.each([
  ['of another log of that name', [group('g1', 0), group('g2', 0, 'c/old')]],
  [
    'of the log before it was recreated',
    [group('g1', 9, 'c/old'), group('g2', 5, 'c/old'), group('g1', 0)],
  ],
  ['while this one has stored nothing', [group('g2', 0)]],
])('is none %s', async (_, rows) => {
  const { groups, count } = watched();
  groups.found(rows);
  expect([groups.problems(), await count()]).toEqual([[], 1]);
});

it('the refusal says when others stored last, and what to do where they have stopped', () => {
  const others = [
    group('g2', minuteMs),
    group('g3', 200 * minuteMs),
    group('g4', 1_300 * minuteMs),
  ];
  const error = groupConflict('g1', 't', others);
  const at = 'at 2026-11-01T12:00:00.000Z';
  expect(error.message).toBe(
    `Cannot ingest as topic t must have one consumer group in a database: groups g2 (60 s ago, ${at}), ` +
      `g3 (3 h 20 min ago, ${at}) and g4 (21 h 40 min ago, ${at}) stored it, and kafka.group_id is g1`,
  );
  expect(error.hint).toMatch(/mistake and has stopped.*ingest\.allow_other_groups/);
  expect(groupConflict('g1', 't', others.slice(0, 1)).message).toContain('group g2 (60 s ago');
});

it.each([
  [
    'a group that stored within a day',
    [group('g1', 0), group('g2', 1_439 * minuteMs)],
    false,
    ['g2'],
  ],
  ['none that stored before', [group('g1', 0), group('g2', 1_440 * minuteMs)], false, []],
  [
    'none that stored before, where this one has stored',
    [group('g1', 0), group('g2', 9_999 * minuteMs)],
    true,
    [],
  ],
  [
    'any, where this one would store all of it again',
    [group('g2', 9_999 * minuteMs)],
    true,
    ['g2'],
  ],
  ['none, where this one goes on elsewhere', [group('g2', 9_999 * minuteMs)], false, []],
  ['none of another log', [group('g2', 0, 'c/old'), group('g1', 0, 'c/old')], true, []],
])('conflicts with %s', (_, groups, isFromBeginning, others) => {
  const log = { topic: 't', log: 'c/t' };
  const found = conflictingGroups(groups, 'g1', log, isFromBeginning);
  expect(found.map(({ groupId }) => groupId)).toEqual(others);
});
