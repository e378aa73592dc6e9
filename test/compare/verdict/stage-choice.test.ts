import { describe, expect, it } from 'vitest';
import type { ComparedMinute } from '../../../src/compare/compared-minute.ts';
import { stageChoice } from '../../../src/compare/verdict/stage-choice.ts';
import { StageTable } from '../../../src/contract/stage-table.ts';
import { minutesOf } from '../traffic.ts';

const minutes = minutesOf('choice', 1, { requests: 50 }, { requests: 50 });
const stages = ['total', 'queue', 'first_token', 'time_per_output_token', 'to_tool', 'absent'];
const decidingOf = (
  asked: readonly string[] | undefined,
  { table = StageTable.standard, whole = 'total', of = minutes as readonly ComparedMinute[] } = {},
) => {
  const { decides, required } = stageChoice({ minutes: of, whole, asked, table });
  return { decides: stages.filter(decides), required };
};

describe('the stages that decide', () => {
  it('are whole requests, milestones and measures, and nothing is required', () => {
    const decides = ['total', 'first_token', 'time_per_output_token'];
    expect(decidingOf(undefined)).toEqual({ decides, required: undefined });
  });

  it('are milestones by the configuration too', () => {
    const table = new StageTable({
      to_tool: { milestone: true },
      first_token: { milestone: false },
    });
    expect(decidingOf(undefined, { table }).decides).toEqual([
      ...['total', 'time_per_output_token', 'to_tool'],
    ]);
  });

  it('are those that were asked for, which are required', () => {
    expect(decidingOf(['queue'])).toEqual({ decides: ['queue'], required: ['queue'] });
    const both = ['total', 'queue'];
    expect(decidingOf(both)).toEqual({ decides: both, required: both });
  });

  it('are the whole request for `total`, whatever it is called', () => {
    expect(decidingOf(['total'], { whole: 'queue' }).decides).toEqual(['queue']);
  });

  it('are refused where no compared request has them, with those that there are', () => {
    expect(() => decidingOf(['total', 'forwrd'])).toThrow(
      expect.objectContaining({
        code: 'TAILMARK_USAGE',
        message:
          'Cannot compare as stages must be stages of the compared requests: none has "forwrd"',
        hint: 'Known: forward, queue, total.',
      }),
    );
  });

  it('are not refused where one version has them, or where nothing is stored', () => {
    const [minute] = minutesOf('one', 1, undefined, { requests: 50 });
    expect(decidingOf(['queue'], { of: [minute as ComparedMinute] }).decides).toEqual(['queue']);
    expect(decidingOf(['absent'], { of: [] }).decides).toEqual(['absent']);
  });
});
