import { describe, expect, it } from 'vitest';
import type { Answer } from '../../../src/alert/receiver.ts';
import { attempt } from '../../../src/alert/receivers/attempt.ts';
import { VirtualClock } from '../outbox/virtual-clock.ts';

const timeoutMs = 1_000;

/** What an attempt comes to whose only request ends after this time with a status whose body hangs. */
async function endingAfter(ms: number): Promise<Answer> {
  const clock = new VirtualClock();
  const post = async (): Promise<Answer> => {
    await clock.sleep(ms);
    return { outcome: 'accepted', answer: '200 OK' };
  };
  const answer = attempt(post, { timeoutMs, clock, secrets: [] });
  await clock.advance(10 * timeoutMs);
  return answer;
}

describe('an attempt', () => {
  it('takes what a request knows at its time-out: a status counts though its body hangs', async () => {
    expect(await endingAfter(timeoutMs)).toEqual({ outcome: 'accepted', answer: '200 OK' });
  });

  it('ends though a request does not, and says that it may have arrived', async () => {
    expect(await endingAfter(5 * timeoutMs)).toEqual({
      outcome: 'failed',
      answer: 'no response within 1000 ms',
      mayHaveArrived: true,
    });
  });
});
