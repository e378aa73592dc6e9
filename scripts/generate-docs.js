// Writes every file that is made from src/config/schema.ts. Reads the build: run it by
// `npm run generate:docs`, which builds first. Tests hold that the files are current.
import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { fileURLToPath } from 'node:url';

const { generatedFiles } = await import('../dist/config/generated-files.js');

for (const { path, text } of generatedFiles()) {
  const file = fileURLToPath(new URL(`../${path}`, import.meta.url));
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, text);
  process.stdout.write(`${path}\n`);
}
