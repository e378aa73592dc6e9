// Compiles kernel/*.ts, which are AssemblyScript, into TypeScript files of base64: `npm run generate:kernel`.
// The results are kept in the repository, so that neither a build nor a test needs the compiler; tests hold
// that they are what the sources compile to.
import { writeFileSync } from 'node:fs';
import { compileKernel, kernels } from './compile-kernel.js';

for (const kernel of kernels) {
  writeFileSync(new URL(`../${kernel.output}`, import.meta.url), await compileKernel(kernel));
  process.stdout.write(`${kernel.output}\n`);
}
