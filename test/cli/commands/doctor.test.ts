// Covers src/cli/doctor/examine-machine.ts, src/cli/doctor/examine-servers.ts and
// src/cli/machine.ts.

import { describe, expect, it } from 'vitest';
import { OperatorError } from '../../../src/base/operator-error.ts';
import type { ProbeFinding } from '../../../src/base/probe-finding.ts';
import { createDoctor } from '../../../src/cli/commands/doctor.ts';
import { examineNode } from '../../../src/cli/doctor/examine-machine.ts';
import type { Machine } from '../../../src/cli/machine.ts';
import type { ReportLine } from '../../../src/cli/text/report-line.ts';
import { capturedIo } from '../captured-io.ts';

const nowMs = Date.parse('2026-11-01T12:00:00Z');
const gib = 1024 ** 3;

const healthy: Machine = {
  nodeVersion: 'v24.3.0',
  nowMs: () => nowMs,
  javaVersion: async () => 21,
  mavenPath: async () => '/usr/bin/mvn',
  dockerVersion: async () => '28.0.1',
  enginePath: async () => '/lib/libchdb.so',
  cacheDir: async () => '/cache',
  freeBytes: async () => 10 * gib,
  serverMs: async () => nowMs,
};

interface Case {
  readonly machine?: Partial<Machine>;
  readonly env?: Readonly<Record<string, string>>;
  readonly findings?: ProbeFinding[];
  /** Of the consumer group. */
  readonly group?: ProbeFinding[];
}

async function examine({ machine = {}, env = {}, findings = [], group = [] }: Case = {}) {
  const { io, out } = capturedIo({ env });
  const none = async () => [];
  const probes = {
    kafka: async () => findings,
    clickhouse: none,
    topics: none,
    spanTopics: none,
    group: async () => group,
  };
  const command = createDoctor({ ...healthy, ...machine }, probes);
  const exitCode = await command.run([], { json: true }, io);
  const { ok, lines } = JSON.parse(out()) as { ok: boolean; lines: ReportLine[] };
  return { exitCode, ok, lines, of: (what: string) => lines.find((line) => line.what === what) };
}

describe('tailmark doctor', () => {
  it('of a healthy machine is all ok and exits 0', async () => {
    const { exitCode, ok, lines } = await examine();
    expect([exitCode, ok]).toEqual([0, true]);
    expect(lines.map(({ level, what }) => `${level} ${what}`)).toEqual([
      'ok Node',
      'ok Java',
      'ok Maven',
      'ok Docker',
      'ok ClickHouse engine',
      'ok Cache directory',
      'ok Configuration',
      'ok Clock against ClickHouse',
    ]);
  });

  it('warns of requirements of the local stack alone, with the fix, and exits 0', async () => {
    const missing = async () => {
      throw new OperatorError('TAILMARK_LOCAL_JAVA_MISSING', 'Cannot', { hint: 'Install Java.' });
    };
    const denied = async () => {
      throw Object.assign(new Error('denied'), { code: 'EACCES' });
    };
    const { exitCode, of } = await examine({
      machine: { javaVersion: missing, dockerVersion: denied, freeBytes: denied },
    });
    expect(exitCode).toBe(0);
    expect(of('Java')).toEqual({
      level: 'warn',
      what: 'Java',
      detail: 'Cannot',
      hint: 'Install Java.',
    });
    expect(of('Docker')?.level).toBe('warn');
    expect(of('Cache directory')).toMatchObject({
      level: 'warn',
      detail: '/cache is not writable (EACCES)',
    });
  });

  it('accepts an absent Docker as a choice, and reports little disk as a warning', async () => {
    const absent = async () => {
      throw Object.assign(new Error('absent'), { code: 'ENOENT' });
    };
    const { of } = await examine({
      machine: { dockerVersion: absent, freeBytes: async () => gib },
    });
    expect(of('Docker')?.level).toBe('ok');
    expect(of('Cache directory')).toMatchObject({
      level: 'warn',
      detail: '/cache, 1.0 GiB free',
    });
  });

  it('fails for each problem of the configuration, and contacts no server then', async () => {
    const { exitCode, lines } = await examine({
      env: { TAILMARK_DETECT_WINDOW: '15s', TAILMARK_LOG_LEVEL: 'loud' },
      findings: [{ ok: true, what: 'Kafka', detail: '' }],
    });
    expect(exitCode).toBe(1);
    const failed = lines.filter(({ level }) => level === 'fail');
    expect(failed.map(({ detail }) => detail.split(':')[0])).toEqual([
      'TAILMARK_DETECT_WINDOW',
      'TAILMARK_LOG_LEVEL',
    ]);
    expect(lines.some(({ what }) => what === 'Kafka')).toBe(false);
  });

  it('fails for an unreadable configuration', async () => {
    const { exitCode, of } = await examine({ env: { TAILMARK_CONFIG: '/absent/tailmark.yaml' } });
    expect(exitCode).toBe(1);
    expect(of('Configuration')?.detail).toContain('ENOENT');
  });

  it('counts the settings by where they come from, as check does', async () => {
    const { of } = await examine({
      env: { TAILMARK_KAFKA_BROKERS: 'a:1', TAILMARK_CLICKHOUSE_DATABASE: 'd' },
    });
    expect(of('Configuration')?.detail).toMatch(
      /^no file, 2 from the environment, 0 from flags, \d+ by default$/,
    );
  });

  it('fails for a server of a default address that responds, and lacks something', async () => {
    const error = new OperatorError('TAILMARK_SCHEMA_MISSING', 'a view is missing');
    const { exitCode, of } = await examine({
      findings: [{ ok: false, what: 'database', detail: error.message, hint: 'Migrate.', error }],
    });
    expect([exitCode, of('database')]).toMatchObject([1, { level: 'fail', hint: 'Migrate.' }]);
  });

  it('does not look for Kafka where events come from elsewhere', async () => {
    const error = new OperatorError('TAILMARK_KAFKA_UNREACHABLE', 'Cannot reach Kafka');
    const { exitCode, of } = await examine({
      env: { TAILMARK_SOURCE_TYPE: 'stdin', TAILMARK_CLICKHOUSE_URL: 'http://127.0.0.1:8123' },
      findings: [{ ok: false, what: 'Kafka', detail: 'refused', error }],
    });
    expect([exitCode, of('Kafka')]).toEqual([
      0,
      { level: 'ok', what: 'Kafka', detail: 'not used: source.type is stdin' },
    ]);
  });

  it('fails for a configured server that does not respond, and warns of a default one', async () => {
    const findings = [{ ok: false, what: 'Kafka', detail: 'refused', hint: 'Start it.' }];
    const fresh = await examine({ findings });
    expect([fresh.exitCode, fresh.of('Kafka')?.level]).toEqual([0, 'warn']);
    expect(fresh.of('Kafka')?.hint).toContain('tailmark up');
    const set = await examine({ findings, env: { TAILMARK_KAFKA_BROKERS: 'a:1' } });
    expect([set.exitCode, set.of('Kafka')?.level]).toEqual([1, 'fail']);
    expect(set.of('Kafka')?.hint).toBe('Start it.');
  });

  it('fails for a group that `run` refuses, also with servers by default', async () => {
    const error = new OperatorError('TAILMARK_GROUP_SHARED', 'Cannot', { hint: 'Another one.' });
    const { message: detail, hint } = error;
    const what = 'consumer group g';
    const { exitCode, of } = await examine({ group: [{ ok: false, what, detail, hint, error }] });
    expect([exitCode, of(what)]).toEqual([1, { level: 'fail', what, detail, hint }]);
  });

  it('warns of findings that work and need attention, with the hint, and exits 0', async () => {
    const advice = {
      ok: true,
      isWarning: true,
      what: 'series',
      detail: '3 of 2',
      hint: 'Raise it.',
    };
    const { exitCode, of } = await examine({ findings: [advice] });
    expect(exitCode).toBe(0);
    expect(of('series')).toEqual({
      ...{ level: 'warn', what: 'series', detail: '3 of 2', hint: 'Raise it.' },
    });
  });

  it.each([
    [5_000, 'ok', 'agrees within 5 s'],
    [-5_999, 'ok', 'agrees within 5 s'],
    [60_000, 'fail', 'the server is 60 s ahead'],
    [-60_999, 'fail', 'the server is 60 s behind'],
  ] as const)('judges a clock that is off by %d ms', async (offMs, level, detail) => {
    const { of } = await examine({ machine: { serverMs: async () => nowMs + offMs } });
    expect(of('Clock against ClickHouse')).toMatchObject({ level, detail });
  });

  it('leaves out a clock that no server reports', async () => {
    const { of } = await examine({
      machine: { serverMs: () => Promise.reject(new Error('refused')) },
    });
    expect(of('Clock against ClickHouse')).toBeUndefined();
  });

  it('prints a line each, with the fix below', async () => {
    const { io, out } = capturedIo();
    const none = async () => [];
    const probes = { kafka: none, clickhouse: none, topics: none, spanTopics: none, group: none };
    await createDoctor({ ...healthy, nodeVersion: 'v20.20.2' }, probes).run([], {}, io);
    expect(out()).toMatch(
      /^warn {2}Node: v20\.20\.2 gets no security fixes since 2026-04-30\n {6}Node 24/,
    );
  });
});

describe('examineNode', () => {
  it.each([
    ['v18.20.0', 'fail'],
    ['v20.18.3', 'fail'],
    ['v20.19.0', 'warn'],
    ['v22.1.0', 'ok'],
    ['v23.0.0', 'warn'],
    ['v24.0.0', 'ok'],
  ])('%s: %s', (version, level) => {
    expect(examineNode(version, nowMs).level).toBe(level);
  });

  it('counts the last day of support in', () => {
    expect(examineNode('v20.19.0', Date.parse('2026-04-30T12:00:00Z')).level).toBe('ok');
    expect(examineNode('v20.19.0', Date.parse('2026-05-01T00:00:00Z')).level).toBe('warn');
  });
});
