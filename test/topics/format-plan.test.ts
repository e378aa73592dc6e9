import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { problemsOfFiles } from '../../src/topics/format-plan.ts';

it('a mapping that is no YAML has that problem, and none of its keys', () => {
  const folder = mkdtempSync(join(tmpdir(), 'tailmark-mapping-'));
  const mapping = join(folder, 'mapping.yaml');
  writeFileSync(mapping, 'total: {path: ms, unit: ms\nmodel: name\n');
  const problemsOf = (format: 'json' | 'otlp_proto') =>
    problemsOfFiles({ format, mapping }, { where: 'here', key: 'kafka.topics[0]' });
  const found = [problemsOf('json'), problemsOf('otlp_proto')].map((problems) =>
    problems.map(({ message }) => message),
  );
  rmSync(folder, { recursive: true });
  const broken = [expect.stringMatching(/^must be valid YAML: /)];
  expect(found).toEqual([broken, broken]);
});
