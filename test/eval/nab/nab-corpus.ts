import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { NabWindows } from './nab-sweep.ts';

export interface NabFile {
  /** Folder and file: `realTweets/Twitter_volume_AAPL.csv`. */
  readonly name: string;
  readonly timesMs: readonly number[];
  readonly values: readonly number[];
  readonly windows: NabWindows;
}

/**
 * Reads a checkout of the Numenta Anomaly Benchmark (github.com/numenta/NAB).
 *
 * @throws when a file is missing, or a label has no record
 */
export class NabCorpus {
  readonly #directory: string;
  readonly files: readonly NabFile[];

  constructor(directory: string) {
    this.#directory = directory;
    const labels = this.#json('labels/combined_windows.json') as Record<string, [string, string][]>;
    this.files = Object.entries(labels).map(([name, windows]) => {
      const rows = this.#rows(`data/${name}`);
      const times = rows.map(([time]) => time as string);
      return {
        name,
        timesMs: times.map((time) => Date.parse(`${time.replace(' ', 'T')}Z`)),
        values: rows.map(([, value]) => Number(value)),
        windows: windows.map(([from, to]) => [recordAt(times, from), recordAt(times, to)] as const),
      };
    });
  }

  /** Lists the detectors with published results. */
  publishedDetectors(): string[] {
    const published = this.publishedScores();
    return Object.keys(published).filter((name) =>
      existsSync(join(this.#directory, 'results', name)),
    );
  }

  /** Returns final scores, by detector and profile. */
  publishedScores(): Record<string, Record<string, number>> {
    return this.#json('results/final_results.json') as Record<string, Record<string, number>>;
  }

  /** Returns the threshold of a published score. */
  publishedThreshold(detector: string, profile: string): number {
    const [first] = this.#rows(`results/${detector}/${detector}_${profile}_scores.csv`);
    return Number(first?.[3]);
  }

  /** Returns a detector's published results of a file: a score for each record. */
  publishedRecords(detector: string, { name }: NabFile): Float64Array {
    const [folder, file] = name.split('/') as [string, string];
    const path = `results/${detector}/${folder}/${detector}_${file}`;
    const [head = ''] = this.#text(path).split('\n', 1);
    const column = head.trim().split(',').indexOf('anomaly_score');
    return Float64Array.from(this.#rows(path), (row) => Number(row[column]));
  }

  /** Returns the lines of a table without its head. */
  #rows(path: string): string[][] {
    const [, ...lines] = this.#text(path).trimEnd().split('\n');
    return lines.map((line) => line.trim().split(','));
  }

  #json(path: string): unknown {
    return JSON.parse(this.#text(path));
  }

  #text(path: string): string {
    return readFileSync(join(this.#directory, path), 'utf8');
  }
}

function recordAt(times: readonly string[], label: string): number {
  const time = label.replace(/\.0+$/, '');
  const at = times.indexOf(time);
  if (at < 0) throw new Error(`a label of NAB has no record: ${label}`);
  return at;
}
