// Covers src/kafka/errors/broker-error.ts.

import { describe, expect, it } from 'vitest';
import { KafkaClaim } from '../../src/kafka/kafka-claim.ts';
import { ClaimLostError } from '../../src/source/source.ts';

const errorOf = (type: string | undefined) =>
  type === undefined ? new Error('Closed connection') : Object.assign(new Error(type), { type });

/** A claim whose commit gets an error from the broker, or no response. */
async function refused(type: string | undefined) {
  let losses = 0;
  const lost = () => {
    losses++;
  };
  const error = errorOf(type);
  const send = () => Promise.reject(error);
  const claim = new KafkaClaim('t', 0, { send, lost, pause: () => {}, readAgain: () => {} });
  const thrown: unknown = await claim.commit(7, '').catch((failure: unknown) => failure);
  return { claim, error, thrown, losses };
}

describe('a commit', () => {
  it.each([
    'ILLEGAL_GENERATION',
    'UNKNOWN_MEMBER_ID',
    'REBALANCE_IN_PROGRESS',
    'FENCED_INSTANCE_ID',
  ])('that is refused with %s has lost the claim', async (type) => {
    const { claim, error, thrown, losses } = await refused(type);
    expect(thrown).toBeInstanceOf(ClaimLostError);
    expect([claim.isLost, losses]).toEqual([true, 1]);
    expect(claim.refusal).toBe(error);
  });

  it('to a deleted topic is not sent to the next one of its name', async () => {
    const { claim, thrown, losses } = await refused('UNKNOWN_TOPIC_OR_PARTITION');
    expect(thrown).toBeInstanceOf(ClaimLostError);
    expect([claim.isLost, losses]).toEqual([true, 1]);
    // kafkajs by itself would not join again after it.
    expect(claim.refusal).toMatchObject({ type: 'REBALANCE_IN_PROGRESS' });
  });

  it('that the broker could not store may be sent again', async () => {
    const { claim, error, thrown, losses } = await refused('COORDINATOR_LOAD_IN_PROGRESS');
    expect(thrown).toBe(error);
    expect([claim.isLost, losses, claim.refusal]).toEqual([false, 0, undefined]);
  });

  it('without a response is not followed by another: it may arrive after that', async () => {
    const { claim, thrown, losses } = await refused(undefined);
    expect(thrown).toBeInstanceOf(ClaimLostError);
    expect([claim.isLost, losses]).toEqual([true, 1]);
    expect(claim.refusal).toMatchObject({ type: 'REBALANCE_IN_PROGRESS' });
  });
});
