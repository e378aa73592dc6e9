import { beforeEach, describe, expect, it } from 'vitest';
import { type RetryOptions, retry } from '../../src/base/retry.ts';

let waits: number[];
let errors: unknown[];
beforeEach(() => {
  waits = [];
  errors = [];
});

const options: RetryOptions = {
  clock: {
    sleep: async (ms) => {
      waits.push(ms);
    },
  },
  ...{ firstMs: 100, longestMs: 300 },
  onError: (error) => errors.push(error),
};

/** An action with these outcomes: errors are thrown, others are returned. */
function outcomes<T>(...all: readonly (T | undefined | Error)[]): () => Promise<T | undefined> {
  const left = [...all];
  return async () => {
    const next = left.shift();
    if (next instanceof Error) throw next;
    return next;
  };
}

describe('an action that is tried again', () => {
  const failure = new Error('away');

  it('ends with its first value, after waits that double up to the longest', async () => {
    const action = outcomes(failure, undefined, failure, undefined, 'value');
    expect(await retry(action, options)).toBe('value');
    expect(waits).toEqual([100, 200, 300, 300]);
    expect(errors).toEqual([failure, failure]);
  });

  it('throws the error of its last attempt', async () => {
    const last = new Error('still away');
    const tried = retry(outcomes(failure, last, 'value'), { ...options, attempts: 2 });
    await expect(tried).rejects.toBe(last);
    expect([waits, errors]).toEqual([[100], [failure]]);
  });

  it('fails where its last attempt has no value', async () => {
    const tried = retry(outcomes<string>(), { ...options, attempts: 3 });
    await expect(tried).rejects.toThrow('no result after 3 attempts');
    expect(waits).toEqual([100, 200]);
  });

  it('is not tried again after an error for which that is of no use', async () => {
    const onError = (error: unknown) => {
      throw error;
    };
    await expect(retry(outcomes(failure), { ...options, onError })).rejects.toBe(failure);
    expect(waits).toEqual([]);
  });

  it('is not tried, and not waited for, once it is over', async () => {
    const isOver = () => errors.length > 0;
    expect(await retry(outcomes(failure, 'value'), { ...options, isOver })).toBeUndefined();
    expect([waits, errors]).toEqual([[], [failure]]);
  });
});
