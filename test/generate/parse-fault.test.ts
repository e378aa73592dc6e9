import { describe, expect, it } from 'vitest';
import { OperatorError } from '../../src/base/operator-error.ts';
import { defaultFleet } from '../../src/generate/default-fleet.ts';
import { faultKinds } from '../../src/generate/fault.ts';
import { parseFault } from '../../src/generate/parse-fault.ts';

const parse = (text: string) => parseFault(text, defaultFleet);

function errorOf(text: string): OperatorError {
  try {
    parse(text);
  } catch (error) {
    if (error instanceof OperatorError) return error;
    throw error;
  }
  throw new Error(`${text} was accepted`);
}

describe('parseFault', () => {
  it.each([
    ['', 'kind must be one of slow_stage, queue, pause, bad_version, release, network'],
    ['slow', 'kind must be one of slow_stage'],
    ['slow_stage', 'must name a stage, as in stage=features: it is "slow_stage"'],
    ['queue,facter=3', 'key of queue must be one of factor, for, from, host, model, ramp, '],
    ['queue,stage=forward', 'it is "stage"'],
    ['queue,factor', 'factor must be a number from 0 to 1000: it is ""'],
    ['queue,factor=-1', 'factor must be a number from 0 to 1000: it is "-1"'],
    ['queue,factor=fast', 'it is "fast"'],
    ['queue,factor=2,factor=3', 'key of queue must stand once: it is "factor"'],
    ['network,share=0', 'share must be above 0 and at most 1: it is "0"'],
    ['network,share=1.1', 'share must be a number from 0 to 1: it is "1.1"'],
    [
      'queue,from=10',
      'from must be a duration from the start, as 500ms, 10s, 5m or 24h: it is "10"',
    ],
    ['timeouts,after=0s', 'after must be above 0: it is "0s"'],
    ['errors,after=30s', 'key of errors must be one of'],
    ['pause,every=0s', 'every must be above 0: it is "0s"'],
    ['pause,stop=5s,every=5s', 'stop must be shorter than every (5000 ms): it is "5000 ms"'],
    ['bad_version,knock_on=yes', 'knock_on must be true or false: it is "yes"'],
    ['queue,model=', 'model must have a value, as in model=ranker: it is ""'],
    ['queue,model=rankr', 'model must be one of ranker, embedder, llm: it is "rankr"'],
    ['queue,region=mars', 'region must be one of eu-west-1, us-east-1: it is "mars"'],
    ['queue,version=1', 'version must be one of 2026-10-15, 2026-11-01: it is "1"'],
    ['queue,model=llm,request_type=search', 'request_type must be one of chat, completion'],
    ['queue,model=llm,host=ranker-eu-west-1-0', 'host must be one of llm-eu-west-1-0'],
    ['slow_stage,stage=features,model=embedder', 'stage must be one of ingress, queue, parse'],
  ])('refuses %j and says what would do', (text, message) => {
    const error = errorOf(text);
    expect(error.message).toMatch(/^Cannot read --fault as /);
    expect(error.message).toContain(message);
    expect(error.code).toBe('TAILMARK_USAGE');
    expect(error.exitCode).toBe(64);
    expect(error.hint).toContain('--fault');
  });

  it('reads every key, with durations in milliseconds', () => {
    expect(
      parse(
        'slow_stage,stage=features,model=ranker,version=2026-11-01,region=eu-west-1,host=ranker-eu-west-1-3,request_type=search,factor=4,share=0.3,from=10m,for=2m,ramp=30s,knock_on=true',
      ),
    ).toEqual({
      kind: 'slow_stage',
      stage: 'features',
      model: 'ranker',
      version: '2026-11-01',
      region: 'eu-west-1',
      host: 'ranker-eu-west-1-3',
      requestType: 'search',
      factor: 4,
      share: 0.3,
      fromMs: 600_000,
      forMs: 120_000,
      rampMs: 30_000,
      knockOn: true,
    });
    expect(parse('pause, stop=250ms, every=3s')).toEqual({
      kind: 'pause',
      stopMs: 250,
      everyMs: 3_000,
    });
  });

  it('accepts every kind with its defaults, and a load as a stage', () => {
    for (const kind of faultKinds) {
      const text = kind === 'slow_stage' ? `${kind},stage=model_load` : kind;
      expect(parse(text).kind).toBe(kind);
    }
  });
});
