import { describe, expect, it } from 'vitest';
import { findClickHouseEngine } from '../../../src/local/clickhouse/clickhouse-engine.ts';

const absent = (...missing: string[]) => {
  return (id: string) => {
    if (missing.includes(id)) throw new Error('not found');
    return `/modules/${id}`;
  };
};

describe('findClickHouseEngine', () => {
  it('gives the library of the platform', () => {
    expect(findClickHouseEngine('darwin-arm64', absent())).toBe(
      '/modules/@chdb/lib-darwin-arm64/libchdb.so',
    );
  });

  it('refuses a platform that has none, naming it', () => {
    expect(() => findClickHouseEngine('win32-x64', absent())).toThrow(
      expect.objectContaining({
        code: 'TAILMARK_LOCAL_ENGINE_MISSING',
        exitCode: 69,
        message: expect.stringMatching(/must be one of linux-x64.*; it is win32-x64$/),
      }),
    );
  });

  it.each([
    ['ffi-rs', 'ffi-rs'],
    ['chdb/package.json', 'chdb'],
    ['@chdb/lib-linux-x64-gnu/package.json', '@chdb/lib-linux-x64-gnu'],
  ])('names the package that is missing: %s', (id, name) => {
    expect(() => findClickHouseEngine('linux-x64', absent(id))).toThrow(
      expect.objectContaining({
        code: 'TAILMARK_LOCAL_ENGINE_MISSING',
        message: `Cannot start ClickHouse: the npm package ${name} must be installed; it is not`,
        hint: expect.stringContaining('npm install chdb ffi-rs'),
      }),
    );
  });
});
