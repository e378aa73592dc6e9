import { ClickHouseError } from '@clickhouse/client';
import { describe, expect, it } from 'vitest';
import { OperatorError } from '../../../src/base/operator-error.ts';
import { configSchema } from '../../../src/config/schema.ts';
import { clickHouseError, errorCodeOf } from '../../../src/sink/client/clickhouse.ts';

const config = configSchema.parse({ clickhouse: { url: 'http://db:8123', username: 'ann' } });
const { clickhouse } = config;
const response = (code: string, message = 'what went wrong\nand a stack') =>
  new ClickHouseError({ message, code });
const system = (code: string) => Object.assign(new Error(`connect ${code} db:8123`), { code });

describe('clickHouseError', () => {
  it.each(['ECONNREFUSED', 'ENOTFOUND', 'ECONNRESET', 'ETIMEDOUT', 'EPIPE', 'EAI_AGAIN'])(
    'reports %s as an unreachable server',
    (code) => {
      const error = clickHouseError(system(code), 'migrate', clickhouse);
      expect(error).toMatchObject({
        code: 'TAILMARK_CLICKHOUSE_UNREACHABLE',
        exitCode: 69,
        message: `Cannot migrate: ClickHouse does not respond at clickhouse.url: http://db:8123 (${code})`,
      });
      expect(error.hint).toContain('clickhouse.url');
    },
  );

  it('finds the code in the cause, and recognizes the client’s own timeout', () => {
    const wrapped = new Error('failed', { cause: system('ECONNREFUSED') });
    const unreachable = { code: 'TAILMARK_CLICKHOUSE_UNREACHABLE' };
    expect(clickHouseError(wrapped, 'read', clickhouse)).toMatchObject(unreachable);
    const timeout = new Error('Timeout error.');
    expect(clickHouseError(timeout, 'read', clickhouse)).toMatchObject(unreachable);
  });

  it.each(['516', '193', '192', '194'])('reports error %s as a refused login', (code) => {
    expect(clickHouseError(response(code), 'read', clickhouse)).toMatchObject({
      code: 'TAILMARK_CLICKHOUSE_AUTH',
      exitCode: 78,
      message: 'Cannot read: ClickHouse rejected clickhouse.username with its password: ann',
    });
  });

  it.each(['497', '164'])('reports error %s as a missing right', (code) => {
    expect(clickHouseError(response(code), 'read', clickhouse)).toMatchObject({
      code: 'TAILMARK_CLICKHOUSE_DENIED',
      exitCode: 78,
      message:
        'Cannot read: clickhouse.username must have the rights of its role; ann lacks one: what went wrong',
      hint: expect.stringContaining('sql/users.sql'),
    });
  });

  it.each(['8', '16', '47'])('reports error %s as a column that the schema lacks', (code) => {
    expect(clickHouseError(response(code), 'read', clickhouse)).toMatchObject({
      code: 'TAILMARK_SCHEMA_MISSING',
      exitCode: 78,
      message: "Cannot read: database tailmark lacks tailmark's columns: what went wrong",
    });
  });

  it('names the table that a view fills, which ClickHouse calls the target of a view', () => {
    const message =
      "Target table 'tailmark.exemplars' of view 'tailmark.chunk_rows' doesn't exists. ";
    const error = new ClickHouseError({ message, code: '60', type: 'UNKNOWN_TABLE' });
    expect(clickHouseError(error, 'store', config.clickhouse).message).toBe(
      'Cannot store: database tailmark lacks table exemplars',
    );
  });

  it.each(['60', '81'])('reports error %s as a missing schema', (code) => {
    const error = clickHouseError(response(code), 'read', clickhouse);
    expect(error).toMatchObject({ code: 'TAILMARK_SCHEMA_MISSING', exitCode: 78 });
    expect(error.hint).toContain('tailmark migrate');
  });

  it('reports any other response by its first line and number', () => {
    const error = clickHouseError(response('241'), 'insert', clickhouse);
    expect(error).toMatchObject({
      code: 'TAILMARK_CLICKHOUSE_FAILED',
      exitCode: 69,
      message: 'Cannot insert: what went wrong',
    });
    expect(error.hint).toContain('241');
  });

  it.each([
    ['http://db:8123', 'its port may require TLS'],
    ['https://db:8443', 'it may not trust the client certificate'],
  ])('at %s, explains a connection that the server closed', (url, hint) => {
    const error = clickHouseError(system('ECONNRESET'), 'read', { ...clickhouse, url });
    expect(error.hint).toContain(`The server closed the connection; ${hint}`);
  });

  it('reports a failed TLS handshake by its reason', () => {
    const expired = Object.assign(new Error('certificate has expired'), {
      code: 'CERT_HAS_EXPIRED',
    });
    const url = 'https://db:8443';
    expect(clickHouseError(expired, 'read', { ...clickhouse, url })).toMatchObject({
      code: 'TAILMARK_CLICKHOUSE_TLS',
      message:
        "Cannot read: TLS handshake with clickhouse.url failed: the server's certificate has expired " +
        '(https://db:8443: certificate has expired)',
    });
  });

  it('truncates an endless response', () => {
    const error = clickHouseError(response('62', 'x'.repeat(5_000)), 'insert', clickhouse);
    expect(error.message.length).toBeLessThan(400);
  });

  it('leaves an operator error unchanged, and throws errors that are not ClickHouse’s', () => {
    const wrapped = new OperatorError('TAILMARK_STALLED', 'Cannot go on');
    expect(clickHouseError(wrapped, 'read', clickhouse)).toBe(wrapped);
    const bug = new TypeError('undefined is not a function');
    expect(() => clickHouseError(bug, 'read', clickhouse)).toThrow(bug);
  });
});

describe('errorCodeOf', () => {
  it.each([
    [response('241'), '241'],
    [system('EPIPE'), 'EPIPE'],
    [Object.assign(new Error('x'), { code: 7 }), '7'],
    [new Error('x', { cause: system('EPIPE') }), 'EPIPE'],
    [new Error('x'), ''],
    ['text', ''],
    [null, ''],
    [undefined, ''],
  ])('of %s is %j', (error, code) => {
    expect(errorCodeOf(error)).toBe(code);
  });
});
