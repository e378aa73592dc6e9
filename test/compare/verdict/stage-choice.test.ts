import { describe, expect, it } from 'vitest';
import type { ComparedMinute } from '../../../src/compare/compared-minute.ts';
import { stageChoice } from '../../../src/compare/verdict/stage-choice.ts';
import { StageTable } from '../../../src/contract/stage-table.ts';
import { minutesOf, withGoodput, withStage } from '../traffic.ts';

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

  describe('beside objectives', () => {
    const [row, other] = ['objective: total<=100', 'objective: total<=200'];
    const counted = withGoodput(minutes, row, { candidate: 0, baseline: undefined });
    const choiceOf = (asked?: readonly string[], of = counted) =>
      stageChoice({
        ...{ minutes: of, whole: 'total', asked, objectives: [row, other] },
        table: StageTable.standard,
      });

    it('leave goodput to decide by default, of each objective that has counted a request', () => {
      expect(choiceOf()).toMatchObject({ objectives: [row] });
      expect(choiceOf()).not.toHaveProperty('required');
      expect(choiceOf(undefined, minutes).objectives).toEqual([]);
    });

    it('leave it out where they are named and it is not', () => {
      expect(choiceOf(['total'])).toMatchObject({ objectives: [], required: ['total'] });
      expect(choiceOf(['goodput', 'total'])).toMatchObject({
        objectives: [row],
        required: ['total', row],
      });
    });

    it('are refused where goodput is named and nothing is counted', () => {
      expect(() => choiceOf(['goodput'], minutes)).toThrow('none has "goodput"');
    });

    it('may have the name goodput themselves', () => {
      const named = withStage(counted, { stage: 'goodput' });
      const chosen = choiceOf(['goodput'], named);
      expect(chosen).toMatchObject({ objectives: [row], required: ['goodput', row] });
      expect(chosen.decides('goodput')).toBe(true);
    });
  });
});
