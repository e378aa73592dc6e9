// Writes every file that is made from the settings' schema, the commands and bench results. Run it by
// `npm run generate:docs`. Tests hold that the files are current.
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { withDetectionSummary } from './detection-summary.js';
import { evalPlots } from './eval-plots.js';
import { evalPages, withEvalTables } from './eval-tables.js';
import { withPipelineTables } from './pipeline-table.js';
import { withReadmeNumbers } from './readme-numbers.js';
import { builtCopy } from './recorded-run.js';

const read = (path) => readFileSync(new URL(`../${path}`, import.meta.url), 'utf8');
const resultsOf = (name) => {
  const path = `bench/results/${name}.txt`;
  return existsSync(new URL(`../${path}`, import.meta.url)) ? read(path) : '';
};
const directory = builtCopy('docs');
const { generatedFiles } = await import(`${directory}/scripts/docs/generated-files.js`);
const { renderAlertMessages } = await import(`${directory}/scripts/docs/render-alert-messages.js`);
const { renderCliReference } = await import(`${directory}/scripts/docs/render-cli-reference.js`);

for (const { path, text } of [
  ...generatedFiles(),
  { path: 'docs/reference/cli.md', text: await renderCliReference() },
  {
    path: 'docs/reference/alert-messages.md',
    text: renderAlertMessages(JSON.parse(read('test/fixtures/demo-incident.json'))),
  },
  {
    path: 'docs/explained/performance.md',
    text: withPipelineTables(
      read('docs/explained/performance.md'),
      read('bench/results/pipeline.txt'),
    ),
  },
  {
    path: 'README.md',
    text: withReadmeNumbers(read('README.md'), resultsOf),
  },
  ...evalPlots(read('bench/results/eval-false-pages.txt'), read('bench/results/eval-faults.txt')),
  {
    path: 'docs/detection.md',
    text: withDetectionSummary(read('docs/detection.md'), resultsOf),
  },
  ...Object.entries(evalPages).map(([path, names]) => ({
    path,
    text: names.reduce(
      (document, name) => withEvalTables(document, resultsOf(name), name),
      read(path),
    ),
  })),
]) {
  writeFileSync(new URL(`../${path}`, import.meta.url), text);
  process.stdout.write(`${path}\n`);
}
