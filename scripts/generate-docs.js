// Writes every file that is made from the settings' schema and from the commands. Reads the build:
// run it by `npm run generate:docs`, which builds first. Tests hold that the files are current.
import { writeFileSync } from 'node:fs';

const { generatedFiles } = await import('../dist/config/generated-files.js');
const { renderCliReference } = await import('../dist/cli/render-cli-reference.js');

for (const { path, text } of [
  ...generatedFiles(),
  { path: 'docs/cli.md', text: await renderCliReference() },
]) {
  writeFileSync(new URL(`../${path}`, import.meta.url), text);
  process.stdout.write(`${path}\n`);
}
