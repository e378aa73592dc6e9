import fc from 'fast-check';
import { expect, it } from 'vitest';
import { jsonValues } from '../../src/convert/json-values.ts';
import { logLines } from '../../src/convert/log-lines.ts';

/** A text in pieces of some bytes, which may end within a character. */
async function* pieces(text: string, size: number): AsyncGenerator<Buffer, void> {
  const bytes = Buffer.from(text);
  for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size);
}

async function textsOf(text: string, size = 3, maxBytes = 1_000): Promise<string[]> {
  const found: string[] = [];
  for await (const { bytes, isTooLong } of jsonValues(pieces(text, size), maxBytes)) {
    found.push(`${bytes.toString('utf8')}${isTooLong ? '…' : ''}`);
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
  ['an object that breaks off', '{"a":1}{"b":', ['{"a":1}', '{"b":']],
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

it('lines of a log are separated, however the stream is cut', async () => {
  for (const size of [1, 2, 100]) {
    const found: string[] = [];
    for await (const line of logLines(pieces('é\r\n\nlast', size))) found.push(line);
    expect(found).toEqual(['é', '', 'last']);
  }
});
