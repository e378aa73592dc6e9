import { describe, expect, it } from 'vitest';
import { Interner } from '../../src/decode/interner.ts';

describe('an interner', () => {
  it('answers -1 to a new string once it is full, and still knows the others', () => {
    const interner = new Interner(3);
    expect([interner.internText('a'), interner.internText('b')]).toEqual([1, 2]);
    expect(interner.internText('c')).toBe(-1);
    expect([interner.internText('b'), interner.internText(''), interner.size]).toEqual([2, 0, 3]);
  });

  it('looks a string up without taking it in', () => {
    const interner = new Interner(10);
    const bytes = Buffer.from('xqueuex');
    expect(interner.find(bytes, 1, 6)).toBe(-1);
    expect(interner.size).toBe(1);
    const id = interner.intern(bytes, 1, 6);
    expect(interner.find(Buffer.from('queue'), 0, 5)).toBe(id);
    expect(interner.find(bytes, 0, 6)).toBe(-1);
  });

  it('keeps 5,000 strings apart while it grows, texts beyond ASCII among them', () => {
    const interner = new Interner(10_000);
    const texts = Array.from({ length: 5_000 }, (_, i) => `größe-${i}`);
    const ids = texts.map((text) => interner.internText(text));
    expect(ids).toEqual(texts.map((_, i) => i + 1));
    expect(ids.map((id) => interner.text(id))).toEqual(texts);
    expect(ids.map((id) => interner.utf8(id).toString())).toEqual(texts);
    expect(texts.map((text) => interner.internText(text))).toEqual(ids);
  });

  it('keeps a copy, so that the bytes it was given may be overwritten', () => {
    const interner = new Interner(10);
    const bytes = Buffer.from('abc');
    const id = interner.intern(bytes, 0, 3);
    bytes.fill(0);
    expect(interner.text(id)).toBe('abc');
    expect(interner.internText('abc')).toBe(id);
  });

  it('has only the empty string after it was cleared', () => {
    const interner = new Interner(10);
    interner.internText('a');
    interner.clear();
    expect(interner.size).toBe(1);
    expect(interner.internText('b')).toBe(1);
    expect(interner.text(0)).toBe('');
  });
});
