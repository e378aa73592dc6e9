import { readFileSync } from 'node:fs';

const options = ['-O3', '--converge', '--runtime', 'stub', '--noAssert', '--enable', 'simd'];
/** Four pages of 64 KiB, no more and no less: views of the memory never become invalid. */
const memory = ['--initialMemory', '4', '--maximumMemory', '4'];
const lineLength = 100;

/** The text of src/decode/event-kernel-wasm.ts, as the source stands. */
export async function compileKernel() {
  const { default: compiler } = await import('assemblyscript/asc');
  const name = 'event-kernel.ts';
  const source = readFileSync(new URL(`../kernel/${name}`, import.meta.url), 'utf8');
  let wasm = new Uint8Array();
  const { error, stderr } = await compiler.main(
    [name, '-o', 'kernel.wasm', ...options, ...memory],
    {
      readFile: (file) => (file === name ? source : null),
      writeFile: (file, bytes) => {
        if (file === 'kernel.wasm') wasm = bytes;
      },
      listFiles: () => [],
    },
  );
  if (error)
    throw new Error(`Cannot compile kernel/${name}: ${error.message}\n${stderr.toString()}`);
  const base64 = Buffer.from(wasm).toString('base64');
  const lines = base64.match(new RegExp(`.{1,${lineLength - 5}}`, 'g')) ?? [];
  const text = lines.map((line) => `  '${line}'`).join(',\n');
  return `// Made by \`npm run generate:kernel\` of kernel/event-kernel.ts. Not to be edited.

/** The event kernel: WebAssembly, in base64. */
export const eventKernelWasm = [
${text},
].join('');
`;
}
