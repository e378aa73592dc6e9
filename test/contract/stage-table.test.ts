import { describe, expect, it } from 'vitest';
import { StageTable } from '../../src/contract/stage-table.ts';

describe('StageTable.classOf', () => {
  it.each([
    ['queue', 'queue'],
    ['forward', 'compute'],
    ['features', 'feature'],
    ['ingress', 'network'],
    ['downstream', 'downstream'],
    ['preprocess', 'serialization'],
    // vLLM, SGLang, and clients that see the first token.
    ['prefill', 'prefill'],
    ['queue_prefill', 'prefill'],
    ['first_token', 'prefill'],
    ['prefill_per_1k_input_tokens', 'prefill'],
    ['decode', 'decode'],
    ['time_per_output_token', 'decode'],
    // k6, Zipkin, Lambda, diffusion services, models within models.
    ['tls', 'network'],
    ['downstream:payments', 'downstream'],
    ['network:payments', 'network'],
    ['restore', 'transfer'],
    ['adapter_load', 'transfer'],
    ['scheduler_queue', 'queue'],
    ['encoder.forward', 'compute'],
    ['ensemble.step.queue', 'queue'],
    ['kv_transfer', 'transfer'],
    ['batch_wait', 'batching'],
  ])('of %s is %s', (stage, expected) => {
    expect(StageTable.standard.classOf(stage)).toBe(expected);
  });

  it.each(['rerank', 'total', 'unaccounted', 'image_decode', 'constructor', '__proto__', ''])(
    'of %s is unknown',
    (stage) => {
      expect(StageTable.standard.classOf(stage)).toBeUndefined();
    },
  );

  it('goes by the configuration first, by the first entry that fits and has a class', () => {
    const table = new StageTable({
      'rerank*': {},
      rerank_fast: { class: 'decode' },
      'r*': { class: 'feature' },
      queue: { class: 'batching' },
    });
    expect(table.classOf('rerank_fast')).toBe('decode');
    expect(table.classOf('rerank')).toBe('feature');
    expect(table.classOf('queue')).toBe('batching');
    expect(table.classOf('forward')).toBe('compute');
  });
});

describe('StageTable.kindOf', () => {
  it.each([
    ['queue', 'part'],
    ['time_to_headers', 'milestone'],
    ['time_per_output_token', 'measure'],
    ['prefill_per_1k_input_tokens', 'measure'],
    ['inter_token_latency', 'measure'],
    ['time_per_request', 'part'],
  ])('of %s is %s', (stage, expected) => {
    expect(StageTable.standard.kindOf(stage)).toBe(expected);
  });

  it('of a measure is a measure, whatever the configuration says of it', () => {
    const table = new StageTable({
      'time_*': { milestone: false },
      prefill_per_1k_input_tokens: { milestone: true },
    });
    expect(table.kindOf('time_per_output_token')).toBe('measure');
    expect(table.kindOf('prefill_per_1k_input_tokens')).toBe('measure');
    expect(table.partsBefore('first_token')?.('time_per_output_token')).toBe(false);
  });
});

describe('StageTable.isMilestone', () => {
  const named = (table: StageTable, names: readonly string[]) =>
    names.filter((name) => table.isMilestone(name));

  it('goes by names', () => {
    const names = [
      'first_token',
      'ttft',
      'ttfb',
      'time_to_headers',
      'first_byte',
      'prefill',
      'x_ttft',
      'total',
    ];
    expect(named(StageTable.standard, names)).toEqual([
      'first_token',
      'ttft',
      'ttfb',
      'time_to_headers',
    ]);
  });

  it('goes by the configuration, which may say that a name is none', () => {
    const table = new StageTable({
      'gw.headers': { milestone: true },
      'until_*': { milestone: true },
      time_to_load: { milestone: false },
      queue: { class: 'queue' },
    });
    const names = [
      'gw.headers',
      'gwxheaders',
      'until_scored',
      'time_to_load',
      'first_token',
      'queue',
    ];
    expect(named(table, names)).toEqual(['gw.headers', 'until_scored', 'first_token']);
  });

  it('says it in two regular expressions for queries too', () => {
    expect(StageTable.standard.milestones).toEqual({
      matching: '^(?:first_token|ttft|ttfb|time_to_.*)$',
      except: '^$',
    });
    expect(
      new StageTable({ 'a.*': { milestone: false }, b: { milestone: true } }).milestones,
    ).toEqual({
      matching: '^(?:first_token|ttft|ttfb|time_to_.*)$|^b$',
      except: '^a\\..*$',
    });
  });
});

describe('StageTable.isWaitedFor', () => {
  it('is of the whole request, milestones by name or configuration, and measures', () => {
    const table = new StageTable({
      to_tool: { milestone: true },
      time_to_idle: { milestone: false },
    });
    const waitedFor = ['total', 'first_token', 'time_per_output_token', 'to_tool'];
    const others = ['queue', 'decode', 'time_to_idle', 'objective: total<=5'];
    expect([...waitedFor, ...others].filter((stage) => table.isWaitedFor(stage))).toEqual(
      waitedFor,
    );
  });
});

describe('StageTable.partsBefore', () => {
  it('of the first token are all but decode and what follows it', () => {
    const isBefore = StageTable.standard.partsBefore('first_token');
    const names = [
      'queue',
      'prefill',
      'rerank',
      'decode',
      'postprocess',
      'ttfb',
      'total',
      'unaccounted',
    ];
    expect(names.filter((name) => isBefore?.(name))).toEqual(['queue', 'prefill', 'rerank']);
  });

  it('of another milestone are those that the configuration names', () => {
    expect(StageTable.standard.partsBefore('time_to_headers')).toBeUndefined();
    const table = new StageTable({ 'time_to_*': { parts: ['q*', 'time_to_auth'] } });
    const isBefore = table.partsBefore('time_to_headers');
    expect(['queue', 'prefill', 'time_to_auth'].filter((name) => isBefore?.(name))).toEqual([
      'queue',
    ]);
  });
});
