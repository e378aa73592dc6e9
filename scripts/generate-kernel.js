// Compiles kernel/event-kernel.ts, which is AssemblyScript, into src/decode/event-kernel-wasm.ts:
// `npm run generate:kernel`. The result is kept in the repository, so that neither a build nor a test
// needs the compiler; a test holds that it is what the source compiles to.
import { writeFileSync } from 'node:fs';
import { compileKernel } from './compile-kernel.js';

const path = new URL('../src/decode/event-kernel-wasm.ts', import.meta.url);
writeFileSync(path, await compileKernel());
process.stdout.write('src/decode/event-kernel-wasm.ts\n');
