import { describe, expect, it } from 'vitest';
import { Random } from '../../src/generate/random.ts';

function take(random: Random, count: number): number[] {
  return Array.from({ length: count }, () => random.uint32());
}

function mean(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / values.length;
}

function variance(values: readonly number[]): number {
  const m = mean(values);
  return mean(values.map((value) => (value - m) ** 2));
}

const draw = (count: number, next: () => number) => Array.from({ length: count }, next);

describe('Random', () => {
  it('gives the integers of xoshiro128** that were recorded for this seed', () => {
    expect(take(new Random('tailmark'), 6)).toEqual(RECORDED);
  });

  it('follows the recurrence of xoshiro128**: an independent BigInt version agrees', () => {
    const random = new Random(42);
    const outputs = take(random, 64);
    const state = solveState(outputs);
    for (let n = 0; n < 64; n++) expect(step(state)).toBe(BigInt(outputs[n] as number));
  });

  it('gives the same for a number and its decimal text, and other numbers for other seeds', () => {
    expect(take(new Random(7), 4)).toEqual(take(new Random('7'), 4));
    expect(take(new Random(7), 4)).not.toEqual(take(new Random(8), 4));
    expect(take(new Random(2 ** 40), 4)).not.toEqual(take(new Random(0), 4));
  });

  it('splits by name, whatever was drawn before and whoever else splits', () => {
    const fresh = take(new Random(1).split('a'), 4);
    const parent = new Random(1);
    take(parent, 100);
    parent.split('b');
    expect(take(parent.split('a'), 4)).toEqual(fresh);
    expect(take(parent.split('b'), 4)).not.toEqual(fresh);
    expect(take(parent.split('a').split('a'), 4)).not.toEqual(fresh);
  });

  it('seeks to a place of its own per index, also in the middle of a pair of normals', () => {
    const random = new Random(1);
    random.seek(3, 5);
    const fresh = draw(5, () => random.normal());
    random.seek(9, 9);
    random.normal();
    random.seek(3, 5);
    expect(draw(5, () => random.normal())).toEqual(fresh);
  });

  it('gives neighbouring places numbers that look unrelated', () => {
    const random = new Random(1);
    const firsts: number[] = [];
    for (let slice = 0; slice < 100; slice++) {
      for (let index = 0; index < 100; index++) {
        random.seek(slice, index);
        firsts.push(random.uniform());
      }
    }
    expect(new Set(firsts).size).toBe(10_000);
    expect(mean(firsts)).toBeCloseTo(0.5, 1);
    expect(variance(firsts)).toBeCloseTo(1 / 12, 2);
    const lagged = firsts.slice(1).map((value, i) => (value - 0.5) * ((firsts[i] as number) - 0.5));
    expect(Math.abs(mean(lagged) * 12)).toBeLessThan(0.04);
  });

  it('draws distributions with the moments that they are asked for', () => {
    const random = new Random(5);
    const normals = draw(50_000, () => random.normal());
    expect(Math.abs(mean(normals))).toBeLessThan(0.02);
    expect(Math.abs(variance(normals) - 1)).toBeLessThan(0.03);
    const logs = draw(50_000, () => Math.log(random.lognormal(8, 0.5)));
    expect(mean(logs)).toBeCloseTo(Math.log(8), 1);
    expect(Math.abs(variance(logs) - 0.25)).toBeLessThan(0.01);
    expect(Math.abs(mean(draw(50_000, () => random.exponential(3))) - 3)).toBeLessThan(0.06);
    const paretos = draw(50_000, () => random.pareto(2, 3));
    expect(Math.min(...paretos)).toBeGreaterThanOrEqual(2);
    expect(Math.abs(mean(paretos) - 3)).toBeLessThan(0.06);
    for (const asked of [0.05, 0.5, 3]) {
      const gammas = draw(50_000, () => random.gammaMeanOne(asked));
      expect(Math.abs(mean(gammas) - 1)).toBeLessThan(0.04);
      expect(Math.abs(variance(gammas) / asked - 1)).toBeLessThan(0.12);
    }
    expect(mean(draw(20_000, () => Number(random.chance(0.01))))).toBeCloseTo(0.01, 2);
    expect(random.gammaMeanOne(0)).toBe(1);
    expect(random.poisson(0)).toBe(0);
  });

  it.each([0.3, 4, 60, 1_700])('draws Poisson counts of mean and variance %d', (asked) => {
    const random = new Random(asked);
    const counts = draw(4_000, () => random.poisson(asked));
    expect(Math.abs(mean(counts) / asked - 1)).toBeLessThan(0.05);
    expect(Math.abs(variance(counts) / asked - 1)).toBeLessThan(0.12);
  });
});

const MASK = 0xffff_ffffn;
const rotl = (x: bigint, k: bigint) => ((x << k) | (x >> (32n - k))) & MASK;

/** One step of xoshiro128** as its authors wrote it, on a state of four words. */
function step(s: [bigint, bigint, bigint, bigint]): bigint {
  const result = (rotl((s[1] * 5n) & MASK, 7n) * 9n) & MASK;
  const t = (s[1] << 9n) & MASK;
  s[2] ^= s[0];
  s[3] ^= s[1];
  s[1] ^= s[2];
  s[0] ^= s[3];
  s[2] ^= t;
  s[3] = rotl(s[3], 11n);
  return result;
}

/**
 * The state before the first of some outputs: the scrambler is a bijection of the second word, and
 * that word's next three values are linear in the rest.
 */
function solveState(outputs: readonly number[]): [bigint, bigint, bigint, bigint] {
  const inverse = (odd: bigint) => {
    let x = odd;
    for (let n = 0; n < 5; n++) x = (x * (2n - odd * x)) & MASK;
    return x & MASK;
  };
  const [b0, b1, b2, b3] = outputs.slice(0, 4).map((output) => {
    const rotated = (BigInt(output) * inverse(9n)) & MASK;
    return (rotl(rotated, 25n) * inverse(5n)) & MASK;
  }) as [bigint, bigint, bigint, bigint];
  // b1 = b0 ^ c0 ^ a0; with e = c0 ^ a0 the first step leaves c1 = e ^ (b0 << 9), a1 = a0 ^ d0 ^ b0.
  const e0 = b0 ^ b1;
  const c1 = e0 ^ ((b0 << 9n) & MASK);
  const a1 = b1 ^ b2 ^ c1;
  // The same once more gives a2, and from a2 = a1 ^ d1 ^ b1 the last unknown.
  const c2 = c1 ^ a1 ^ ((b1 << 9n) & MASK);
  const a2 = b2 ^ b3 ^ c2;
  const d1 = a2 ^ a1 ^ b1;
  const d0 = rotl(d1, 21n) ^ b0;
  const a0 = a1 ^ d0 ^ b0;
  return [a0, b0, e0 ^ a0, d0];
}

const RECORDED: readonly number[] = [
  2697785887, 1156142226, 2701336387, 700393005, 1004000060, 4227363230,
];
