import kafkajs from 'kafkajs';
import { describe, expect, it } from 'vitest';
import { OperatorError } from '../../../src/base/operator-error.ts';
import { configSchema } from '../../../src/config/schema.ts';
import { kafkaError } from '../../../src/kafka/client/kafka-client.ts';

const { kafka } = configSchema.parse({ kafka: { brokers: ['a:9092', 'b:9092'] } });

function protocolError(type: string, message: string): Error {
  return new kafkajs.KafkaJSProtocolError(Object.assign(new Error(message), { type, code: 1 }));
}

/** Errors have messages that the types of kafkajs omit. */
function made(errorClass: new () => Error, message: string): Error {
  return Reflect.construct(errorClass, [message]);
}

describe('kafkaError', () => {
  it.each([
    ['a refused connection', new kafkajs.KafkaJSConnectionError('connect ECONNREFUSED a:9092')],
    ['a silent broker', new kafkajs.KafkaJSConnectionError('Connection timeout')],
    ['an unknown host', new Error('getaddrinfo ENOTFOUND a')],
    ['a broker that is gone', made(kafkajs.KafkaJSBrokerNotFound, 'No leader')],
  ])('reports %s as an unreachable cluster', (_, cause) => {
    const error = kafkaError(cause, 'read from Kafka', kafka);
    expect(error).toMatchObject({ code: 'TAILMARK_KAFKA_UNREACHABLE', exitCode: 69, cause });
    expect(error.message).toBe(
      `Cannot read from Kafka: no broker in kafka.brokers responds: a:9092, b:9092 (${cause.message})`,
    );
    expect(error.hint).toContain('TAILMARK_KAFKA_BROKERS');
  });

  it("finds the cause below kafkajs's own handling", () => {
    const root = new kafkajs.KafkaJSConnectionError('connect ECONNREFUSED a:9092');
    const wrapped = new kafkajs.KafkaJSNumberOfRetriesExceeded(root, {
      retryCount: 3,
      retryTime: 1,
    });
    expect(kafkaError(wrapped, 'read', kafka).message).toContain('(connect ECONNREFUSED a:9092)');
    expect(kafkaError(wrapped, 'read', kafka).code).toBe('TAILMARK_KAFKA_UNREACHABLE');
  });

  it.each([
    made(kafkajs.KafkaJSSASLAuthenticationError, 'SASL PLAIN authentication failed'),
    protocolError('SASL_AUTHENTICATION_FAILED', 'no'),
  ])('reports a refused login: %s', (cause) => {
    expect(kafkaError(cause, 'read', kafka)).toMatchObject({
      code: 'TAILMARK_KAFKA_AUTH',
      exitCode: 78,
    });
  });

  it('reports a missing topic', () => {
    const cause = protocolError('UNKNOWN_TOPIC_OR_PARTITION', 'This server does not host it');
    const error = kafkaError(cause, 'write to topic x', kafka);
    expect(error).toMatchObject({
      code: 'TAILMARK_KAFKA_TOPIC_MISSING',
      exitCode: 69,
      message: 'Cannot write to topic x: the topic does not exist: This server does not host it',
    });
  });

  it('reports any other response by its kind and first line', () => {
    const cause = protocolError('INVALID_REPLICATION_FACTOR', 'must be 1\nat somewhere');
    const error = kafkaError(cause, 'create topics', kafka);
    expect(error).toMatchObject({
      code: 'TAILMARK_KAFKA_FAILED',
      exitCode: 69,
      message: 'Cannot create topics: must be 1',
    });
    expect(error.hint).toContain('INVALID_REPLICATION_FACTOR');
  });

  it('leaves an operator error unchanged', () => {
    const wrapped = new OperatorError('TAILMARK_STALLED', 'Cannot go on');
    expect(kafkaError(wrapped, 'read', kafka)).toBe(wrapped);
  });

  it('accepts thrown values that are no Error', () => {
    expect(kafkaError('odd', 'read', kafka).message).toBe('Cannot read: odd');
  });
});
