// Covers src/cli/text/colors.ts.

import { describe, expect, it, vi } from 'vitest';
import { createIo, wantsColor } from '../../src/cli/create-io.ts';
import { colorsOf } from '../../src/cli/text/colors.ts';

describe('wantsColor', () => {
  it.each([
    [{}, true, true],
    [{}, false, false],
    [{ NO_COLOR: '1' }, true, false],
    [{ NO_COLOR: '' }, true, true],
    [{ NO_COLOR: '1', FORCE_COLOR: '1' }, true, false],
    [{ FORCE_COLOR: '1' }, false, true],
    [{ FORCE_COLOR: '0' }, true, false],
    [{ TERM: 'dumb' }, true, false],
  ])('%j on a terminal %s is %s', (env, isTty, expected) => {
    expect(wantsColor(env, isTty)).toBe(expected);
  });
});

describe('colorsOf', () => {
  it('adds colour only where it is wanted', () => {
    expect(colorsOf({ color: true }).red('x')).toBe('\u001b[31mx\u001b[39m');
    expect(colorsOf({ color: true }).red('')).toBe('');
    expect(colorsOf({ color: false }).red('x')).toBe('x');
  });
});

describe('createIo', () => {
  it('aborts on the first signal and removes its listeners', async () => {
    const before = process.listenerCount('SIGTERM');
    const { io, finish } = createIo();
    expect(process.listenerCount('SIGTERM')).toBe(before + 1);
    expect(io.signal.aborted).toBe(false);
    process.emit('SIGTERM', 'SIGTERM');
    expect(io.signal.aborted).toBe(true);
    await finish();
    expect(process.listenerCount('SIGTERM')).toBe(before);
  });

  it('exits without an error when the reader of standard output has gone', async () => {
    const { io, isPipeClosed, finish } = createIo();
    expect(isPipeClosed()).toBe(false);
    process.stdout.emit('error', Object.assign(new Error('closed'), { code: 'EPIPE' }));
    expect([isPipeClosed(), io.signal.aborted]).toEqual([true, true]);
    await finish();
  });

  it.each(['ENOSPC', 'EIO'])('reports a standard output that refuses by %s', async (code) => {
    const { finish } = createIo();
    const refuse = () => process.stdout.emit('error', Object.assign(new Error(code), { code }));
    expect(refuse).toThrow(
      expect.objectContaining({
        code: 'TAILMARK_PATH_UNWRITABLE',
        exitCode: 69,
        message: `Cannot write to standard output: ${code}`,
      }),
    );
    process.stderr.emit('error', Object.assign(new Error(code), { code }));
    await finish();
  });

  it('resolves when written text is accepted', async () => {
    const { io, finish } = createIo();
    await io.outDrained?.();
    const isFull = vi.spyOn(process.stdout, 'writableNeedDrain', 'get').mockReturnValue(true);
    let isDrained = false;
    const waiting = io.outDrained?.().then(() => {
      isDrained = true;
    });
    await new Promise((resolve) => setImmediate(resolve));
    expect(isDrained).toBe(false);
    process.stdout.emit('drain');
    await waiting;
    isFull.mockRestore();
    await finish();
  });
});
