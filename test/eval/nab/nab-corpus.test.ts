import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { NabCorpus } from './nab-corpus.ts';

const directory = mkdtempSync(join(tmpdir(), 'nab-'));
afterAll(() => rmSync(directory, { recursive: true }));

function write(path: string, content: unknown): void {
  mkdirSync(dirname(join(directory, path)), { recursive: true });
  const text = typeof content === 'string' ? content : JSON.stringify(content);
  writeFileSync(join(directory, path), text);
}
const records = ['2014-04-01 00:00:00,3', '2014-04-01 00:05:00,4', '2014-04-01 00:10:00,-5.5'];
write('data/some/file.csv', ['timestamp,value', ...records, ''].join('\n'));
write('labels/combined_windows.json', {
  'some/file.csv': [['2014-04-01 00:05:00.000000', '2014-04-01 00:10:00.000000']],
});
write('results/final_results.json', { a: { standard: 12.5 }, gone: { standard: 1 } });
const scored = records.map((record, i) => `${record},0,0.${i}`);
write('results/a/some/a_file.csv', ['timestamp,value,label,anomaly_score', ...scored].join('\r\n'));
write('results/a/a_standard_scores.csv', 'Detector,Profile,File,Threshold\na,standard,f,0.75\n');

describe('NabCorpus', () => {
  it('reads values, and labels as records', () => {
    const startMs = Date.UTC(2014, 3, 1);
    expect(new NabCorpus(directory).files).toEqual([
      {
        name: 'some/file.csv',
        timesMs: [startMs, startMs + 300_000, startMs + 600_000],
        values: [3, 4, -5.5],
        windows: [[1, 2]],
      },
    ]);
  });

  it('reads the published results of detectors whose records exist', () => {
    const corpus = new NabCorpus(directory);
    expect(corpus.publishedDetectors()).toEqual(['a']);
    expect(corpus.publishedScores().a).toEqual({ standard: 12.5 });
    expect(corpus.publishedThreshold('a', 'standard')).toBe(0.75);
    const [file] = corpus.files;
    expect(file && corpus.publishedRecords('a', file)).toEqual(Float64Array.of(0, 0.1, 0.2));
  });

  it('refuses a label without a record', () => {
    write('labels/combined_windows.json', {
      'some/file.csv': [['2014-04-01 00:07:00.000000', '2014-04-01 00:10:00.000000']],
    });
    expect(() => new NabCorpus(directory)).toThrow('2014-04-01 00:07:00');
  });
});
