import { describe, expect, it } from 'vitest';
import { MavenProgress } from '../../../src/local/kafka/maven-progress.ts';

describe('MavenProgress', () => {
  it('adds up files and bytes over pieces that split a line', () => {
    const progress = new MavenProgress();
    expect(progress.add('[INFO] Scanning\n[INFO] Downloading from c: a.jar\n')).toBeNull();
    expect(progress.add('[INFO] Downloaded from c: a.jar (284 kB at 3.3')).toBeNull();
    expect(progress.add(' MB/s)\n')).toBe('1 files, 0.3 MB');
    expect(
      progress.add('Downloaded from c: b.jar (1.7 MB at 9 MB/s)\nDownloaded from c: c (16 B)\n'),
    ).toBe('3 files, 2.0 MB');
  });
});
