import { describe, expect, it } from 'vitest';
import { neverGets, neverMatches } from '../../../src/alert/routing/never-matches.ts';
import type { ReceiverMatch } from '../../../src/config/alert.ts';
import { configSchema } from '../../../src/config/schema.ts';

const all: ReceiverMatch = { severity: 'info' };
const config = configSchema.parse({});
const long = 'é'.repeat(129);
const slo = (more: object) =>
  configSchema.parse({
    detect: { slos: [{ model: 'rank*', threshold: '200ms', objective: 0.999, ...more }] },
  });

describe('a receiver that can never match', () => {
  it.each<[Partial<ReceiverMatch>, string | undefined]>([
    [{}, undefined],
    [{ host: ['pod-*'] }, 'host is not one of windows.dimensions, so no series has a value of it'],
    [{ host: ['*'] }, undefined],
    [
      { attributes: { gpu: ['h100'] } },
      'attributes.gpu is not one of windows.dimensions, so no series has a value of it',
    ],
    [{ kinds: ['slo_burn'] }, 'kind slo_burn needs detect.slos, which has none'],
    [{ kinds: ['slo_burn', 'drift'] }, undefined],
    [{ kinds: ['pipeline'], models: ['ranker'] }, 'kind pipeline has no model'],
    [{ kinds: ['pipeline'], models: ['ranker', '*'] }, undefined],
    [{ kinds: ['pipeline'] }, undefined],
    [{ kinds: ['no_data'], region: ['eu'] }, 'kind no_data has no region'],
    [
      { kinds: ['no_data', 'throughput_drop'], region: ['eu'] },
      'kind no_data has no region; kind throughput_drop has no region',
    ],
    [{ kinds: ['no_data', 'tail_shift'], region: ['eu'] }, undefined],
    [{ kinds: ['drift'], version: ['v2'] }, 'kind drift has no version'],
    [{ kinds: ['drift'], severity: 'critical' }, 'kind drift is never critical'],
    [{ kinds: ['drift'], severity: 'warning' }, undefined],
    [{ severity: 'critical' }, undefined],
    [{ region: ['eu'] }, undefined],
    [{ models: [long] }, 'a value of model has at most 256 bytes (limits.max_dimension_bytes)'],
    [{ models: [long, 'ranker'] }, undefined],
  ])('%j: %s', (match, reason) => {
    expect(neverMatches({ ...all, ...match }, config)).toBe(reason);
  });

  it.each<[Partial<ReceiverMatch>, object, boolean]>([
    [{}, {}, false],
    [{ models: ['ranker'] }, {}, false],
    [{ models: ['search'] }, {}, true],
    [{ models: ['*er'] }, {}, false],
    [{ models: ['search'] }, { model: '*' }, false],
    [{ models: ['rank*'] }, { model: 'search' }, true],
    [{ request_type: ['chat'] }, {}, true],
    [{ request_type: ['chat'] }, { request_type: 'chat' }, false],
    [{ request_type: ['ch*'] }, { request_type: 'search' }, true],
    [{ region: ['eu'] }, {}, true],
    [{ region: ['eu'] }, { match: { region: 'eu' } }, false],
    [{ region: ['eu'] }, { match: { region: 'eu*' } }, true],
  ])('of objectives: %j with %j: %s', (match, objective, isNever) => {
    const reason = neverMatches({ ...all, kinds: ['slo_burn'], ...match }, slo(objective));
    expect(reason !== undefined).toBe(isNever);
  });
});

describe('a receiver that gets some of its kinds only', () => {
  it.each<[Partial<ReceiverMatch>, string[]]>([
    [{}, []],
    [{ region: ['eu'] }, []],
    [{ kinds: ['slo_burn'] }, []],
    [{ kinds: ['slo_burn', 'drift'] }, ['kind slo_burn needs detect.slos, which has none']],
    [{ kinds: ['tail_shift', 'no_data'], region: ['eu'] }, ['kind no_data has no region']],
    [{ kinds: ['tail_shift', 'pipeline'], models: ['ranker'] }, ['kind pipeline has no model']],
  ])('%j: %j', (match, reasons) => {
    expect(neverGets({ ...all, ...match }, config)).toEqual(reasons);
  });
});
