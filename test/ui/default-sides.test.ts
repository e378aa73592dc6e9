import { describe, expect, it } from 'vitest';
import type { VersionRow } from '../../src/views/answers/versions.ts';
import { byModel, defaultSides } from '../../ui/src/views/compare/default-sides.ts';

const row = (version: string, isLive = true, model = 'ranker'): VersionRow => ({
  ...{ model, version, requests: 10, is_live: isLive },
  ...{ first_seen: '2026-11-25T10:00:00.000Z', last_seen: '2026-11-25T11:00:00.000Z' },
});
const sides = (a: string, b: string) => ({ 'a.version': a, 'b.version': b });

describe('the sides that a comparison opens with', () => {
  it.each([
    ['the two newest', [row('v3'), row('v2'), row('v1')], {}, sides('v2', 'v3')],
    [
      'the two newest of those that are live',
      [row('v3'), row('v2', false), row('v1')],
      {},
      sides('v1', 'v3'),
    ],
    [
      'the two newest where one is live',
      [row('v3'), row('v2', false), row('v1', false)],
      {},
      sides('v2', 'v3'),
    ],
    [
      'a chosen B and the one before it',
      [row('v3'), row('v2'), row('v1')],
      { 'b.version': 'v2' },
      sides('v1', 'v2'),
    ],
    [
      'the oldest as B against the newest',
      [row('v3'), row('v2'), row('v1')],
      { 'b.version': 'v1' },
      sides('v3', 'v1'),
    ],
    [
      'a chosen A and the newest other one',
      [row('v3'), row('v2')],
      { 'a.version': 'v3' },
      sides('v3', 'v2'),
    ],
    ['what is chosen', [row('v3'), row('v2')], sides('v1', 'v0'), undefined],
    ['nothing of one version', [row('v3')], {}, undefined],
    ['nothing of none', [], {}, undefined],
  ] as const)('are %s', (_, rows, chosen, expected) => {
    expect(defaultSides(rows, chosen)).toEqual(expected);
  });

  it('are of one model: rows are told apart by it', () => {
    const rows = [row('v2'), row('v1'), row('w1', true, 'embedder')];
    expect([...byModel(rows)].map(([model, own]) => [model, own.length])).toEqual([
      ['ranker', 2],
      ['embedder', 1],
    ]);
  });
});
