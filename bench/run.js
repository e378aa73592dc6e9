// npm run bench -- NAME [OPTIONS] [--record]: builds and runs bench/NAME.ts. With --record, what it
// prints is kept, with machine and commit, in bench/results/NAME.txt. Without a name it lists the benches.

import { readdirSync } from 'node:fs';
import { compile, given, headOf, linkBeside, pathOf, run } from '../scripts/recorded-run.js';

const { isRecorded, options: all } = given();
const [name, ...options] = all;
const names = readdirSync(pathOf('bench'))
  .filter((file) => file.endsWith('.ts'))
  .map((file) => file.slice(0, -'.ts'.length));

if (name === undefined || !names.includes(name)) {
  process.stderr.write(`Which bench? npm run bench -- ${names.join(' | ')}\n`);
  process.exit(64);
}

const directory = pathOf('dist.bench');
compile('bench', directory);
linkBeside(directory);
const head = headOf(`bench ${name} ${options.join(' ')}`, [
  'src',
  'bench/*.ts',
  'bench/measure',
  'bench/traffic',
]);
process.stdout.write(head);
run(`${directory}/bench/${name}.js`, options, isRecorded ? { name, head } : undefined);
