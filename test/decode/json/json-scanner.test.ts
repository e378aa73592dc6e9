import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { exactDecimal } from '../../../src/decode/json/exact-decimal.ts';
import { JsonScanner } from '../../../src/decode/json/json-scanner.ts';
import { mulberry32 } from '../../base/seeded-random.ts';

const scanner = new JsonScanner();

/** The number at the start of a text, and how far it went; undefined if it is none. */
function scanned(text: string): { value: number; end: number } | undefined {
  const bytes = Buffer.from(`${text},"x":1}`);
  scanner.begin(bytes);
  const end = scanner.number(bytes, 0, bytes.length);
  return end < 0 ? undefined : { value: scanner.value[0] as number, end };
}

function skips(text: string): boolean {
  const bytes = Buffer.from(text);
  scanner.begin(bytes);
  return scanner.skipValue(bytes, 0, bytes.length, 1) === bytes.length;
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

describe('a number', () => {
  it('is refused where JSON has none', () => {
    for (const text of ['', '.5', '1.', '1.e1', '01', '00', '1e', '1e+', 'x', '-', '0123456789']) {
      expect(scanned(text)?.end, text).not.toBe(text.length);
    }
  });

  it('is read alike where the message ends soon after it', () => {
    for (const text of ['0', '1.5', '12345678', '1234.567', '123456789012345', '1e5', '00', '1.']) {
      for (const rest of ['}', ',', '  }', '']) {
        const bytes = Buffer.from(text + rest);
        scanner.begin(bytes);
        const end = scanner.number(bytes, 0, bytes.length);
        expect(end, text + rest).toBe(isJson(text) ? text.length : -1);
        if (end > 0) expect(scanner.value[0]).toBe(JSON.parse(text));
      }
    }
  });

  it('is bit for bit what JSON.parse gives, for any finite double', () => {
    fc.assert(
      fc.property(fc.double({ min: 0, noNaN: true, noDefaultInfinity: true }), (given) => {
        const value = given + 0;
        for (const text of [String(value), value.toExponential(), value.toPrecision(17)]) {
          expect(scanned(text)).toEqual({ value: JSON.parse(text), end: text.length });
        }
      }),
      { seed: 1, numRuns: 3_000 },
    );
  });

  it('is so for 200,000 decimals of up to 21 digits with the point anywhere', () => {
    const random = mulberry32(7);
    for (let i = 0; i < 200_000; i++) {
      const digits = Array.from({ length: 1 + Math.floor(random() * 21) }, () =>
        Math.floor(random() * 10),
      ).join('');
      const at = Math.floor(random() * (digits.length + 1));
      const whole = digits.slice(0, at).replace(/^0+(?=.)/, '') || '0';
      const text = at === digits.length ? whole : `${whole}.${digits.slice(at)}`;
      if (scanned(text)?.value !== JSON.parse(text)) expect(scanned(text)?.value, text).toBe(-1);
    }
  });

  it('is so at and beside the midpoints between two doubles, where rounding is decided', () => {
    const random = mulberry32(11);
    for (let i = 0; i < 20_000; i++) {
      // Odd multiples of a half unit in the last place, written out exactly.
      const twice = (2n ** 53n + BigInt(Math.floor(random() * 2 ** 52))) * 2n + 1n;
      const halves = BigInt(1 + Math.floor(random() * 6));
      const digits = (twice * 5n ** halves).toString().padStart(Number(halves) + 1, '0');
      const cut = digits.length - Number(halves);
      const middle = `${digits.slice(0, cut)}.${digits.slice(cut)}`;
      for (const text of [middle, `${middle}1`, middle.slice(0, 19), middle.slice(0, 20)]) {
        if (text.endsWith('.')) continue;
        const bytes = Buffer.from(text);
        expect(exactDecimal(bytes, 0, bytes.length), text).toBe(JSON.parse(text));
      }
    }
  });
});

describe('a value that is skipped', () => {
  it('is accepted if and only if JSON.parse accepts it, whole', () => {
    const random = mulberry32(3);
    const parts = ['{', '}', '[', ']', ',', ':', '"a"', '"\\u00e9"', '"\\x"', '1', '-1.5e+3', ' '];
    const more = ['true', 'nul', 'null', 'false', '0', '"', '-', '\n', '"\t"', '{"k":1}', '[1,2]'];
    const all = [...parts, ...more];
    let valid = 0;
    for (let i = 0; i < 100_000; i++) {
      const count = 1 + Math.floor(random() * 6);
      const text = Array.from(
        { length: count },
        () => all[Math.floor(random() * all.length)] as string,
      ).join('');
      const trimmed = text.trim();
      const expected = isJson(trimmed);
      if (expected) valid++;
      if (skips(trimmed) !== expected) expect(skips(trimmed), trimmed).toBe(expected);
    }
    expect(valid).toBeGreaterThan(1_000);
  });

  it('is any value that JSON.stringify writes, with or without space', () => {
    fc.assert(
      fc.property(fc.jsonValue({ maxDepth: 6 }), (value) => {
        expect(skips(JSON.stringify(value))).toBe(true);
        expect(skips(JSON.stringify(value, null, 2))).toBe(true);
      }),
      { seed: 2, numRuns: 500 },
    );
  });
});
