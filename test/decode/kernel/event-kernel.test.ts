import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { compileKernel, kernels } from '../../../scripts/compile-kernel.js';
import { EventKernel } from '../../../src/decode/kernel/event-kernel.ts';
import { mulberry32 } from '../../base/seeded-random.ts';
import { canonicalEvent } from '../canonical-event.ts';
import { type Outcome, testDecoder } from '../outcomes.ts';
import { referenceDecoder } from '../reference-decoder.ts';

/** A decoder that reads events like this one by the kernel. */
function taught(event: string, options: Parameters<typeof testDecoder>[0] = {}) {
  const test = testDecoder(options);
  test.decode(`${event}\n${event}`);
  expect(test.decoder.kernelCount).toBe(0);
  return test;
}

function batchSizesOf(outcomes: readonly Outcome[]): unknown[] {
  return outcomes.map((outcome) => 'event' in outcome && outcome.event.batch_size);
}

describe('the kernel', () => {
  it.each(kernels)(
    '$name is what its source compiles to',
    async (kernel) => {
      const path = new URL(`../../../${kernel.output}`, import.meta.url);
      expect(readFileSync(path, 'utf8')).toBe(await compileKernel(kernel));
    },
    60_000,
  );

  it('runs on this Node', () => {
    expect(EventKernel.shared()).toBeInstanceOf(EventKernel);
  });

  it('reads numbers bit for bit as JSON.parse does, and leaves few of them', () => {
    const random = mulberry32(7);
    const digits = () => String(Math.floor(random() * 1e8)).padStart(8, '0');
    const numbers = Array.from({ length: 60_000 }, () => {
      const text = `${digits()}${digits()}${digits()}`.slice(0, 1 + Math.floor(random() * 21));
      const point = Math.floor(random() * (text.length + 1));
      const whole = text.slice(0, point).replace(/^0+(?=\d)/, '');
      if (random() < 0.2) return String(random() * 10 ** Math.floor(random() * 7));
      return point === 0 || point === text.length
        ? String(BigInt(text))
        : `${whole}.${text.slice(point)}`;
    });
    const event = (number: string) =>
      `{"ts":1789000000123,"model":"m","batch_size":${number},"total_ms":1}`;
    const { decoder, decode } = taught(event('1'));
    const { outcomes } = decode(numbers.map(event).join('\n'));
    expect(batchSizesOf(outcomes)).toEqual(numbers.map((number) => JSON.parse(number)));
    expect(decoder.kernelCount).toBeGreaterThan(0.8 * numbers.length);
  });

  it('reads numbers at and beside the midpoints between two doubles', () => {
    const random = mulberry32(11);
    const numbers = Array.from({ length: 20_000 }, () => {
      // A double of 53 bits in steps of 2^-k, half a step added: so many binary digits, exactly.
      const bits = 1 + Math.floor(random() * 8);
      const mantissa = BigInt(Math.floor((0.5 + random() / 2) * 2 ** 53)) * 2n + 1n;
      const scaled = mantissa * 5n ** BigInt(bits);
      const text = scaled.toString().padStart(bits + 1, '0');
      const cut = Math.floor(random() * 3);
      const exact = `${text.slice(0, -bits)}.${text.slice(-bits)}`;
      return cut === 0 ? exact : `${exact.slice(0, -1)}${cut === 1 ? '4' : '6'}`;
    });
    const event = (number: string) =>
      `{"ts":1789000000123,"model":"m","batch_size":${number},"total_ms":1}`;
    const { decode } = taught(event('1'));
    const { outcomes } = decode(numbers.map(event).join('\n'));
    expect(batchSizesOf(outcomes)).toEqual(numbers.map((number) => JSON.parse(number)));
  });

  it.each(['1.', '01', '.5', '1e5', '-1', '1.5.5', '00', '', '"1"', '0x1', '1_0', '9'.repeat(310)])(
    'leaves the number %s to the general path',
    (number) => {
      const event = (text: string) =>
        `{"ts":1789000000123,"model":"m","batch_size":${text},"total_ms":1}`;
      const { decoder, decode } = taught(event('1'));
      const message = `${event('2')}\n${event(number)}\n${event('3')}`;
      expect(decode(message).outcomes).toEqual(referenceDecoder()(Buffer.from(message)));
      expect(decoder.kernelCount).toBe(2);
    },
  );

  it('says the same of an event that breaks off, wherever that is, alone and among others', () => {
    const { decoder, decode } = taught(canonicalEvent);
    const reference = referenceDecoder();
    for (let length = 1; length < canonicalEvent.length; length++) {
      const cut = canonicalEvent.slice(0, length);
      for (const message of [cut, `${canonicalEvent}\n${cut}`, `${cut}\n${canonicalEvent}`]) {
        expect(decode(message).outcomes, message).toEqual(reference(Buffer.from(message)));
      }
    }
    // Most are broken, so that it is left alone at times.
    expect(decoder.kernelCount).toBeGreaterThan(50);
  });

  it('reads values of every kind and length, met before or not', () => {
    const event = (host: string, status: string, flag: string, id: string) =>
      `{"ts":"2026-09-10T00:26:40.123Z","trace_id":"t-${id}","model":"m","host":"${host}","status":"${status}",` +
      `"cold_start":${flag},"x":"${id}","cache_hit":${flag},` +
      `"id":"${id}","partial":${flag},"stages_ms":{"a":1.5}}`;
    const { decoder, decode } = taught(event('h', 'ok', 'true', '1'));
    const hosts = [
      '',
      'a',
      'ß',
      '模型',
      ...Array.from({ length: 70 }, (_, n) => 'h'.repeat(n)),
      '__other__',
    ];
    const events = hosts.flatMap((host, n) => {
      const status = ['ok', 'error', 'timeout', 'cancelled', 'no'][n % 5] as string;
      return [event(host, status, String(n % 2 === 0), `${n}`), event(host, status, 'false', 'é')];
    });
    const message = Buffer.from([...events, ...events].join('\n'));
    expect(decode(message).outcomes).toEqual(referenceDecoder()(message));
    expect(decoder.kernelCount).toBeGreaterThan(events.length * 1.5);
  });

  it('accepts no event without a model, whether an empty value was met before or not', () => {
    const event = (model: string, region: string) =>
      `{"ts":1789000000123,"model":"${model}","region":"${region}","total_ms":1}`;
    const { decoder, decode } = taught(event('m', 'eu'));
    const message = [event('', 'eu'), event('m', ''), event('', ''), event('m', 'eu')].join('\n');
    expect(decode(message).outcomes).toEqual(referenceDecoder()(Buffer.from(message)));
    expect(decoder.kernelCount).toBeGreaterThan(1);
  });

  it('knows more values than it has room for', () => {
    const event = (host: number) =>
      `{"ts":1789000000123,"model":"m","host":"pod-${host}","total_ms":1}`;
    const { decoder, decode } = taught(event(0));
    const message = Array.from({ length: 20_000 }, (_, n) => event((n * 7) % 6_000)).join('\n');
    const hosts = decode(message).outcomes.map((one) => 'event' in one && one.event.host);
    expect(hosts).toEqual(Array.from({ length: 20_000 }, (_, n) => `pod-${(n * 7) % 6_000}`));
    expect(decoder.kernelCount).toBe(20_000);
  });

  it('keeps decoders apart that take turns, with names, shapes and limits of their own', () => {
    const first = testDecoder();
    const second = testDecoder();
    const event = (model: string, stage: string, ms: number) =>
      `{"ts":1789000000123,"model":"${model}","stages_ms":{"${stage}":${ms}}}`;
    for (let n = 0; n < 50; n++) {
      const [a, b] = [event(`m${n % 3}`, 'a', n), event(`m${n % 5}`, 'b', n)];
      expect(first.decode(`${a}\n${a}`).outcomes).toMatchObject([
        { event: { model: `m${n % 3}`, stages: [['a', n]] } },
        { event: { model: `m${n % 3}`, stages: [['a', n]] } },
      ]);
      expect(second.decode(b).outcomes).toMatchObject([
        { event: { model: `m${n % 5}`, stages: [['b', n]] } },
      ]);
    }
    expect(first.decoder.kernelCount).toBe(97);
    expect(second.decoder.kernelCount).toBe(47);
  });

  it('reads several shapes that take turns', () => {
    const { decoder, decode } = testDecoder();
    const shapes = [1, 2, 3, 4].map((n) => canonicalEvent.replace('"host"', `"x${n}"`));
    const message = Buffer.from(Array.from({ length: 8_000 }, (_, n) => shapes[n % 4]).join('\n'));
    expect(decode(message).outcomes).toEqual(referenceDecoder()(message));
    expect(decoder.kernelCount).toBeGreaterThan(4_000);
  });

  it('reads messages longer than its memory, whichever way their events lie across its end', () => {
    for (const padding of [0, 1, 1_000, 20_000, 120_000]) {
      const event = (n: number) =>
        `{"ts":1789000000123,"model":"m","id":"${n}","note":"${'x'.repeat(n === 700 ? padding : n % 50)}","total_ms":${n}}`;
      const { decoder, decode } = taught(event(1));
      const { outcomes } = decode(Array.from({ length: 5_000 }, (_, n) => event(n)).join('\n'));
      const read = outcomes.map(
        (one) => 'event' in one && [one.event.requestId, one.event.totalMs],
      );
      expect(read).toEqual(Array.from({ length: 5_000 }, (_, n) => [`${n}`, n]));
      expect(decoder.kernelCount).toBeGreaterThan(4_990);
    }
  });

  it('forgets ids when the interners are cleared', () => {
    const { decoder, decode, stages, values } = taught(canonicalEvent);
    for (let round = 1; round <= 3; round++) {
      stages.clear();
      values.clear();
      values.internText(`other ${round}`);
      stages.internText(`other ${round}`);
      const message = Buffer.from(`${canonicalEvent}\n`.repeat(10));
      expect(decode(message).outcomes).toEqual(referenceDecoder()(message));
      expect(decoder.kernelCount).toBe(round * 7);
    }
  });

  it('leaves events alone for a while that it cannot read, and then tries them again', () => {
    const event = (amount: string) => `{"ts":1789000000123,"model":"m","x":${amount},"total_ms":1}`;
    const { decoder, decode } = taught(event('1'));
    decode(`${event('[1]')}\n`.repeat(2_000));
    const { outcomes } = decode(`${event('1')}\n`.repeat(2_000));
    expect(outcomes).toHaveLength(2_000);
    expect(decoder.kernelCount).toBeGreaterThan(1_000);
    expect(decoder.fallbackCount).toBe(0);
  });
});
