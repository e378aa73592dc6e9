import { expect, it } from 'vitest';
import { OperatorError } from '../../../src/base/operator-error.ts';
import { withWritten } from '../../../src/cli/traffic/written-before.ts';

const topic = { name: 'topic t', isTopic: true };
const broken = new OperatorError('TAILMARK_FILE_UNREADABLE', 'Cannot read a.gz', {
  hint: 'Copy it.',
  exitCode: 1,
});

it('an error says what is in the topic already, and that a second run sends it again', () => {
  expect(withWritten(broken, 1_030, topic)).toMatchObject({
    message: 'Cannot read a.gz; 1,030 events were written to topic t before',
    hint: 'Copy it. They stay in the topic: a second run sends them again.',
    code: 'TAILMARK_FILE_UNREADABLE',
    exitCode: 1,
  });
  const unreachable = new OperatorError('TAILMARK_KAFKA_UNREACHABLE', 'Cannot write to topic t');
  expect(withWritten(unreachable, 1, topic)).toMatchObject({
    message: 'Cannot write to topic t; 1 event was written to topic t before',
    hint: 'They stay in the topic: a second run sends them again.',
    exitCode: 69,
  });
});

it.each([
  ['the output', new OperatorError('TAILMARK_PATH_UNWRITABLE', 'Cannot write out'), 30],
  ['the command line, before it began', new OperatorError('TAILMARK_USAGE', 'Cannot convert'), 0],
  ['a bug', new Error('BUG: no such row'), 30],
])('an error of %s stays as it is', (_, error, count) => {
  expect(withWritten(error, count, { name: 'out', isTopic: false })).toBe(error);
});
