import { describe, expect, it } from 'vitest';
import { createProgress, type Progress } from '../../../src/cli/text/progress.ts';

interface Screen {
  readonly progress: Progress;
  readonly writes: string[];
  nowMs: number;
}

function screen(isErrTty: boolean, total: number | undefined, env = {}): Screen {
  const writes: string[] = [];
  const clock = { nowMs: () => made.nowMs };
  const io = { err: (text: string) => writes.push(text), env, isErrTty };
  const made: Screen = {
    progress: createProgress(io, { label: 'Sending', total, clock }),
    writes,
    nowMs: 1_000,
  };
  return made;
}

describe('createProgress on a terminal', () => {
  it('redraws one line, at most ten times a second', () => {
    const made = screen(true, 100, { NO_COLOR: '1' });
    for (let ms = 0; ms <= 1_000; ms++) {
      made.nowMs = 1_000 + ms;
      made.progress.update(ms / 10);
    }
    expect(made.writes.length).toBe(11);
    expect(made.writes[0]).toBe(`\r\u001b[2KSending ${'░'.repeat(24)}   0 %`);
    expect(made.writes[5]).toBe(`\r\u001b[2KSending ${'█'.repeat(12)}${'░'.repeat(12)}  50 %`);
    expect(made.writes[10]).toBe(`\r\u001b[2KSending ${'█'.repeat(24)} 100 %`);
  });

  it('removes the line at the end, once, and draws no more', () => {
    const made = screen(true, 100);
    made.progress.finish();
    const partial = screen(true, 100);
    partial.progress.update(1);
    partial.progress.finish();
    partial.progress.finish();
    partial.nowMs = 9_000;
    partial.progress.update(2);
    expect(made.writes).toEqual([]);
    expect(partial.writes.slice(1)).toEqual(['\r\u001b[2K']);
  });

  it('shows the detail only without a total, and never beyond 100 %', () => {
    const forever = screen(true, Number.POSITIVE_INFINITY);
    forever.progress.update(5, '12 events');
    expect(forever.writes).toEqual(['\r\u001b[2KSending  12 events']);
    const over = screen(true, 10, { NO_COLOR: '1' });
    over.progress.update(30);
    expect(over.writes[0]).toContain('100 %');
  });

  it('dims the rest of the bar, but not under NO_COLOR', () => {
    const colored = screen(true, 10);
    colored.progress.update(5);
    expect(colored.writes[0]).toContain('\u001b[2m░');
    const plain = screen(true, 10, { NO_COLOR: '1' });
    plain.progress.update(5);
    expect(plain.writes[0]).not.toContain('\u001b[2m');
  });
});

describe('createProgress elsewhere', () => {
  it('writes a plain line at each quarter, once', () => {
    const made = screen(false, 200);
    for (let done = 0; done <= 200; done++) made.progress.update(done, `${done} events`);
    made.progress.update(200);
    made.progress.finish();
    expect(made.writes).toEqual([
      'Sending 0 %  0 events\n',
      'Sending 25 %  50 events\n',
      'Sending 50 %  100 events\n',
      'Sending 75 %  150 events\n',
      'Sending 100 %  200 events\n',
    ]);
  });

  it('makes one line of a jump over several marks, and none without a total', () => {
    const made = screen(false, 100);
    made.progress.update(80);
    made.progress.update(100);
    expect(made.writes).toEqual(['Sending 75 %\n', 'Sending 100 %\n']);
    const forever = screen(false, undefined);
    forever.progress.update(80);
    expect(forever.writes).toEqual([]);
  });

  it('treats a dumb terminal as none', () => {
    const made = screen(true, 100, { TERM: 'dumb' });
    made.progress.update(50);
    expect(made.writes).toEqual(['Sending 50 %\n']);
  });
});
