import { expect, it } from 'vitest';
import { recordReaderOf } from '../../../src/topics/record-reader-of.ts';
import { mappingOf, recordDecoder } from './decode-records.ts';

const json = recordReaderOf({ format: 'json', framing: 'none' });
const rules = 'start: {path: t, unit: ms}\ntotal: {path: d, unit: ms}\n';
const message = Buffer.from('{"t":1790000000000,"d":1,"m":"own"}\n'.repeat(3));

/** Headers, and how often they were read. */
function headersOf(model: string) {
  const read = () => {
    headers.reads++;
    return new Map([['m', Buffer.from(model)]]);
  };
  const headers = { read, reads: 0 };
  return headers;
}

const modelsOf = ({ outcomes }: ReturnType<ReturnType<typeof recordDecoder>['decode']>) =>
  outcomes.map((outcome) => ('event' in outcome ? outcome.event.model : outcome));

it('are read once a message, whatever it holds', () => {
  const { decode } = recordDecoder(json, mappingOf(`${rules}headers: h\nmodel: h.m\n`));
  for (const model of ['first', 'second']) {
    const headers = headersOf(model);
    expect(modelsOf(decode(message, headers.read))).toEqual([model, model, model]);
    expect(headers.reads).toBe(1);
  }
  expect(decode(message).outcomes).toMatchObject(new Array(3).fill({ reason: 'missing_model' }));
});

it('are not read where the mapping has no key for them', () => {
  const headers = headersOf('header');
  const { decode } = recordDecoder(json, mappingOf(`${rules}model: m\n`));
  expect(modelsOf(decode(message, headers.read))).toEqual(['own', 'own', 'own']);
  expect(headers.reads).toBe(0);
});
