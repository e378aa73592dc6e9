import { readFileSync } from 'node:fs';

const options = ['-O3', '--converge', '--runtime', 'stub', '--noAssert', '--enable', 'simd'];
const lineLength = 100;

/** That of src/memory/arena.ts: from 1 MiB to all that 32 bits address. */
const stateMemory = ['--importMemory', '--initialMemory', '16', '--maximumMemory', '65536'];

/** Each kernel, and what it is compiled to. */
export const kernels = [
  {
    name: 'event-kernel',
    output: 'src/decode/kernel/event-kernel-wasm.ts',
    constant: 'eventKernelWasm',
    /** Four pages of 64 KiB, no more and no less: views of the memory never become invalid. */
    memory: ['--initialMemory', '4', '--maximumMemory', '4'],
  },
  {
    name: 'count-kernel',
    output: 'src/sketch/count-kernel-wasm.ts',
    constant: 'countKernelWasm',
    /** From 1 MiB to all that 32 bits address. */
    memory: ['--initialMemory', '16', '--maximumMemory', '65536'],
  },
  {
    name: 'duration-kernel',
    output: 'src/baseline/durations/duration-kernel-wasm.ts',
    constant: 'durationKernelWasm',
    memory: stateMemory,
  },
  {
    name: 'weights-kernel',
    output: 'src/detect/tail/evidence/weights-kernel-wasm.ts',
    constant: 'weightsKernelWasm',
    memory: stateMemory,
  },
  {
    name: 'evidence-kernel',
    output: 'src/detect/tail/evidence/evidence-kernel-wasm.ts',
    constant: 'evidenceKernelWasm',
    memory: stateMemory,
  },
  {
    name: 'checksum-kernel',
    output: 'src/kafka/protocol/checksum-kernel-wasm.ts',
    constant: 'checksumKernelWasm',
    /** Five pages: tables, and the block of src/kafka/protocol/crc32c.ts. */
    memory: ['--initialMemory', '5', '--maximumMemory', '5'],
  },
];

/** The text of a kernel's output, as its source stands. */
export async function compileKernel({ name, constant, memory }) {
  const { default: compiler } = await import('assemblyscript/asc');
  const file = `${name}.ts`;
  const source = readFileSync(new URL(`../kernel/${file}`, import.meta.url), 'utf8');
  let wasm = new Uint8Array();
  const { error, stderr } = await compiler.main(
    [file, '-o', 'kernel.wasm', ...options, ...memory],
    {
      readFile: (path) => (path === file ? source : null),
      writeFile: (path, bytes) => {
        if (path === 'kernel.wasm') wasm = bytes;
      },
      listFiles: () => [],
    },
  );
  if (error)
    throw new Error(`Cannot compile kernel/${file}: ${error.message}\n${stderr.toString()}`);
  const base64 = Buffer.from(wasm).toString('base64');
  const lines = base64.match(new RegExp(`.{1,${lineLength - 5}}`, 'g')) ?? [];
  const text = lines.map((line) => `  '${line}'`).join(',\n');
  return `// Made by \`npm run generate:kernel\` of kernel/${file}. Not to be edited.

/** The ${name.replace('-', ' ')}: WebAssembly, in base64. */
export const ${constant} = [
${text},
].join('');
`;
}
