import { PassThrough } from 'node:stream';
import { expect, it } from 'vitest';
import { untilEnter } from '../../../src/cli/demo/until-enter.ts';

const never = new AbortController().signal;

it.each(['\n', '\r\n', 'go on\n'])('a line of standard input, %j, ends the wait', async (typed) => {
  const stdin = new PassThrough();
  const ended = untilEnter(stdin, never);
  stdin.write(typed);
  await ended;
  expect([stdin.listenerCount('data'), stdin.isPaused()]).toEqual([0, true]);
});

it('text without an end of line and a closed standard input do not, an interruption does', async () => {
  const stdin = new PassThrough();
  const interrupted = new AbortController();
  let isOver = false;
  const ended = untilEnter(stdin, interrupted.signal).then(() => {
    isOver = true;
  });
  stdin.end('no line');
  await new Promise((resolve) => stdin.once('end', resolve));
  expect(isOver).toBe(false);
  interrupted.abort();
  await ended;
  await untilEnter(stdin, interrupted.signal);
});
