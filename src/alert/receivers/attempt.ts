import type { Clock } from '../../base/clock.ts';
import { messageOf } from '../../base/failure.ts';
import { knownSecrets } from '../../base/telemetry/known-secrets.ts';
import { cleanText } from '../message/clean-text.ts';
import type { Answer } from '../receiver.ts';

/** A request that ends in time knows more of its end, such as a status whose body hangs. */
const graceMs = 500;
const maxAnswerChars = 500;
const maxMemoryChars = 2000;

/** Time as receivers need it. */
export type ReceiverClock = Pick<Clock, 'nowMs' | 'sleep'>;

export interface AttemptOptions {
  /** Bounds the whole attempt, however many requests it makes, but for half a second. */
  readonly timeoutMs: number;
  readonly clock: ReceiverClock;
  /** Replaced by `***` in the answer: servers quote what they refuse. */
  readonly secrets: readonly string[];
}

/**
 * Makes one attempt within its time. Resolves for every outcome: an error of our own is `unacceptable`,
 * so that the minimal form is tried.
 *
 * @param run gets a signal that ends it when the time is over.
 */
export async function attempt(
  run: (signal: AbortSignal) => Promise<Answer>,
  { timeoutMs, clock, secrets }: AttemptOptions,
): Promise<Answer> {
  const end = new AbortController();
  const late = clock.sleep(timeoutMs + graceMs, end.signal).then((): Answer => {
    const answer = `no response within ${timeoutMs} ms`;
    return { outcome: 'failed', answer, mayHaveArrived: true };
  });
  const answer = await Promise.race([outcomeOf(run, end.signal), late]);
  end.abort();
  return cleanAnswer(answer, secrets);
}

async function outcomeOf(run: (signal: AbortSignal) => Promise<Answer>, signal: AbortSignal) {
  try {
    return await run(signal);
  } catch (error) {
    return { outcome: 'unacceptable', answer: `BUG: ${messageOf(error)}` } satisfies Answer;
  }
}

function cleanAnswer({ memory, ...answer }: Answer, secrets: readonly string[]): Answer {
  const text = knownSecrets.hide(answer.answer, secrets);
  const cleaned = {
    ...answer,
    answer: cleanText(text, maxAnswerChars),
  };
  return memory === undefined || memory.length > maxMemoryChars ? cleaned : { ...cleaned, memory };
}
