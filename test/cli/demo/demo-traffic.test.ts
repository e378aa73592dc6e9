import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { demo } from '../../../src/cli/commands/demo.ts';
import {
  demoVerdict,
  injectionText,
  othersFound,
  plot,
  timelineOf,
} from '../../../src/cli/demo/demo-traffic.ts';
import { configSchema } from '../../../src/config/schema.ts';

const found = {
  id: 'a1',
  model: 'ranker',
  region: 'eu-west-1',
  stage: 'features',
  state: 'resolved',
} as const;

it('says of the regression from when it is, in the time of the events, as the README shows it', () => {
  const timeline = timelineOf(Date.UTC(2026, 10, 28, 19, 35, 5));
  expect(timeline.faultFromMs).toBe(Date.UTC(2026, 10, 28, 19, 32, 20));
  const readme = readFileSync(new URL('../../../README.md', import.meta.url), 'utf8');
  expect(readme.split('\n')).toContain(injectionText(timeline));
});

describe('demoVerdict', () => {
  it('fails when nothing was found', () => {
    expect(demoVerdict([])).toEqual(['the regression was not found']);
  });

  it('fails when another stage is blamed', () => {
    expect(demoVerdict([{ ...found, stage: 'queue' }])).toEqual(['a1 blames queue, not features']);
  });

  it('fails for a false alarm beside the regression', () => {
    const other = { ...found, id: 'b2', model: 'llm', stage: 'forward' };
    expect(demoVerdict([found, other])).toEqual([
      'b2 is a false positive: llm in eu-west-1 had no fault',
    ]);
  });

  it('fails when an anomaly stays open', () => {
    expect(demoVerdict([{ ...found, state: 'opened' }])).toEqual(['a1 was not resolved']);
  });

  describe('beside events that others sent', () => {
    const others = 600;
    const other = { ...found, id: 'b2', model: 'llm', region: 'us-east-1', stage: 'forward' };
    const open = { ...other, state: 'opened' } as const;

    it('does not hold their faults against the detector, resolved or not', () => {
      expect(demoVerdict([found, open], others)).toEqual([]);
      expect(othersFound([found, open], others)).toEqual(['b2: forward of llm in us-east-1']);
    });

    it('knows the regression from another fault of the same model and region', () => {
      const same = { ...found, id: 'c3', stage: 'queue' };
      expect(demoVerdict([found, same], others)).toEqual([]);
      expect(othersFound([found, same], others)).toEqual(['c3: queue of ranker in eu-west-1']);
      expect(demoVerdict([same], others)).toEqual(['c3 blames queue, not features']);
    });

    it('still fails when the regression was not found, or not resolved', () => {
      expect(demoVerdict([other], others)).toEqual(['the regression was not found']);
      expect(demoVerdict([{ ...found, state: 'opened' }, open], others)).toEqual([
        'a1 was not resolved',
      ]);
    });

    it('takes nothing for theirs where they sent nothing', () => {
      expect(othersFound([found, other], 0)).toEqual([]);
    });
  });

  it('passes when every anomaly is the regression, with the right stage, and resolved', () => {
    expect(demoVerdict([found, { ...found, id: 'a2' }])).toEqual([]);
  });
});

describe('the demo', () => {
  it('says that its incidents are over sooner than by default, and why', () => {
    const { resolve_windows } = configSchema.parse({}).detect;
    expect([plot.resolveWindows, resolve_windows]).toEqual([3, 18]);
    const sentence = `${plot.resolveWindows} clear windows instead of ${resolve_windows}`;
    expect(demo.help?.replaceAll('\n', ' ')).toContain(sentence);
    const tutorial = readFileSync(
      new URL('../../../docs/start/tutorial.md', import.meta.url),
      'utf8',
    );
    expect(tutorial.replaceAll('\n', ' ')).toContain(sentence);
  });
});
