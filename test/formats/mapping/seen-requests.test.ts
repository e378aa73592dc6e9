import { expect, test } from 'vitest';
import { mappedFormat } from '../../../src/convert/json/mapped-format.ts';
import { litellm } from '../../../src/convert/json/preset-formats.ts';
import { Interner } from '../../../src/decode/interner.ts';
import { SeenRequests } from '../../../src/formats/mapping/seen-requests.ts';
import { planOf } from '../../../src/topics/format-plan.ts';
import { openDecoder } from '../../../src/topics/open-decoder.ts';
import { convertBytes } from '../../convert/json/collect.ts';
import { bounds } from '../../decode/outcomes.ts';

const START_S = 1790000000.5;
/** A payload as LiteLLM writes it. */
const payload = (id: string | undefined, startS = START_S, tookS = 1.25) => ({
  id,
  call_type: 'acompletion',
  model: 'small-1',
  status: 'success',
  stream: true,
  startTime: startS,
  endTime: startS + tookS,
  completionStartTime: startS + 0.2,
});
const linesOf = (payloads: readonly object[], lineEnd = '\n') =>
  payloads.map((each) => JSON.stringify(each)).join(lineEnd);

const totalsOf = async (input: string) => {
  const { drafts, rejects, skipped } = await convertBytes(litellm, input);
  expect(rejects).toEqual([]);
  return { totals: drafts.map((each) => `${each.id} ${each.total_ms}`), skipped };
};

const twice = [payload('a'), payload('a', START_S, 1.2503)];
const both = [payload('a'), payload('b', START_S, 1.5)];
/** Calls between the pair. */
const others = Array.from({ length: 5_000 }, (_, i) => payload(`o${i}`, START_S + i));

test.each([
  ['one after the other', linesOf(twice)],
  ['with the line ends of Windows', linesOf(twice, '\r\n')],
  ['with blank lines between them', linesOf(twice, '\n\n \n')],
  ['in one list', JSON.stringify(twice)],
])('a payload that comes twice counts once, the first: %s', async (_, input) => {
  expect(await totalsOf(input)).toEqual({ totals: ['a 1250'], skipped: 1 });
});

test('a payload that comes twice counts once: in turns, and far apart', async () => {
  const turns = await totalsOf(linesOf([...both, ...both]));
  expect(turns).toEqual({ totals: ['a 1250', 'b 1500'], skipped: 2 });
  const apart = await totalsOf(linesOf([payload('a'), ...others, payload('a')]));
  expect(apart.totals).toHaveLength(1 + others.length);
  expect(apart.skipped).toBe(1);
});

test.each([
  ['one id with two starts', [payload('a'), payload('a', START_S + 0.001)]],
  ['two ids with one start', both.map((each) => ({ ...each, endTime: START_S + 1.25 }))],
  ['no id', [payload(undefined), payload(undefined)]],
  ['an empty id', [payload(''), payload('')]],
  ['an id that is null', [payload('a'), payload('a')].map((each) => ({ ...each, id: null }))],
])('other payloads count each: %s', async (_, payloads) => {
  expect(await totalsOf(linesOf(payloads))).toMatchObject({
    totals: [expect.stringMatching(/ 1250$/), expect.stringMatching(/ 1250$/)],
    skipped: 0,
  });
});

test('one that is rejected is not the request that counts', async () => {
  const broken = { ...payload('a'), endTime: START_S - 1 };
  const { drafts, rejects, skipped } = await convertBytes(litellm, linesOf([broken, payload('a')]));
  expect(drafts).toHaveLength(1);
  expect(rejects).toHaveLength(1);
  expect(skipped).toBe(0);
});

test('a mapping without `once` counts each, and one with it has an id', async () => {
  const yaml = 'start: {path: t, unit: ms}\ntotal: {path: took, unit: ms}\nmodel: m\n';
  const input = linesOf([0, 0].map(() => ({ t: 1795608000123, took: 5, m: 'ranker', i: 'a' })));
  const countOf = async (text: string) =>
    (await convertBytes(mappedFormat(text, 'my.yaml'), input)).drafts.length;
  expect(await countOf(`${yaml}id: i\n`)).toBe(2);
  expect(await countOf(`${yaml}id: i\nonce: true\n`)).toBe(1);
  expect(() => mappedFormat(`${yaml}once: true\n`, 'my.yaml')).toThrow(
    /id must be given with once/,
  );
});

test('of a topic it counts once in a message, and in each message', () => {
  const options = { stages: new Interner(256), values: new Interner(1_000), ...bounds };
  const plan = planOf({ format: 'json', preset: 'litellm' });
  const decoder = openDecoder(plan, { ...options, maxMessageBytes: 1 << 20 }, undefined);
  let events = 0;
  let skipped = 0;
  const sink = {
    event: () => events++,
    reject: (_index: number, reason: string, detail: string) => expect.fail(`${reason}: ${detail}`),
    skip: (count: number) => {
      skipped += count;
    },
  };
  const message = Buffer.from(linesOf(twice));
  expect(decoder.decode(message, sink)).toBe(2);
  expect([events, skipped]).toEqual([1, 1]);
  decoder.decode(message, sink);
  expect([events, skipped]).toEqual([2, 2]);
});

test('it forgets the oldest beyond its limit', () => {
  const seen = new SeenRequests(2);
  const repeated = ['a', 'b', 'b', 'c', 'a', 'c'].map((id) => seen.isRepeated({ id, ts: 1 }));
  expect(repeated).toEqual([false, false, true, false, false, true]);
});
