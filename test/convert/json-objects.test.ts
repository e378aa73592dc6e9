import fc from 'fast-check';
import { expect, it } from 'vitest';
import { jsonObjects } from '../../src/convert/json-objects.ts';
import { textFile } from './conversion.ts';

async function textsOf(text: string, size = 3, maxBytes = 1_000): Promise<string[]> {
  const found: string[] = [];
  for await (const { text: part, isWhole } of jsonObjects(textFile(text, size).open(), maxBytes)) {
    found.push(`${part}${isWhole ? '' : '…'}`);
  }
  return found;
}

it.each([
  ['one after another', '{"a":1}{"b":2}', ['{"a":1}', '{"b":2}']],
  ['a line each', '{"a":1}\r\n{"b":2}\n', ['{"a":1}', '{"b":2}']],
  ['a list', '[\n{"a":[1,{}]},\n{"b":"]}"}\n]', ['{"a":[1,{}]}', '{"b":"]}"}']],
  ['escaped quotes', '{"a":"\\"}"}', ['{"a":"\\"}"}']],
  ['a byte order mark', '\ufeff{"a":1}', ['{"a":1}']],
  ['text between', '{"a":1} oops {"b":2}', ['{"a":1}', ' oops ', '{"b":2}']],
  ['an object that breaks off', '{"a":1}{"b":', ['{"a":1}', '{"b":…']],
  ['a list that breaks off between objects', '[{"a":1},', ['{"a":1}', ',…']],
  ['nothing', ' \n', []],
])('objects of a stream are separated: %s', async (_name, text, expected) => {
  for (const size of [1, 2, 7, 1_000]) expect(await textsOf(text, size)).toEqual(expected);
});

it('an object beyond the limit is cut, marked, and costs no other', async () => {
  const long = `{"a":"${'x'.repeat(2_000)}"}`;
  expect(await textsOf(`${long}{"b":2}`, 100)).toEqual([`${long.slice(0, 1_000)}…`, '{"b":2}']);
});

it('any objects come out as they went in, however the stream is cut', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.dictionary(fc.string(), fc.jsonValue())),
      fc.boolean(),
      fc.integer({ min: 1, max: 50 }),
      async (objects, isList, size) => {
        const texts = objects.map((each) => JSON.stringify(each));
        const text = isList ? `[${texts.join(',')}]` : texts.join('\n');
        expect(await textsOf(text, size, 1_000_000)).toEqual(texts);
      },
    ),
  );
});
