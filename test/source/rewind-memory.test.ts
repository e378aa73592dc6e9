import { describe, expect, it } from 'vitest';
import { RewindMemory } from '../../src/source/rewind-memory.ts';

describe('RewindMemory', () => {
  it('believes that nothing lies between when a second reading led to the same place', () => {
    const memory = new RewindMemory();
    expect(memory.beginOf('t/0', 90)).toBe(90);
    memory.note('t/0', 50, 90);
    expect(memory.beginOf('t/0', 90)).toBe(90);
    memory.note('t/0', 50, 90);
    expect(memory.beginOf('t/0', 90)).toBe(50);
  });

  it('does not believe a reading that led elsewhere, or had begun elsewhere', () => {
    const memory = new RewindMemory();
    memory.note('t/0', 50, 90);
    memory.note('t/0', 50, 80);
    expect(memory.beginOf('t/0', 80)).toBe(80);
    expect(memory.beginOf('t/0', 90)).toBe(90);
    memory.note('t/0', 60, 80);
    expect(memory.beginOf('t/0', 80)).toBe(80);
    memory.note('t/0', 60, 80);
    expect(memory.beginOf('t/0', 80)).toBe(60);
    expect(memory.beginOf('t/0', 81)).toBe(81);
  });

  it('keeps partitions apart, and forgets all when the group moves on', () => {
    const memory = new RewindMemory();
    for (const _ of [1, 2]) memory.note('t/0', 50, 90);
    expect(memory.beginOf('t/1', 90)).toBe(90);
    memory.clear();
    expect(memory.beginOf('t/0', 90)).toBe(90);
  });
});
