// Runs a command for as long as the standard input of this process is open, then ends it: SIGTERM
// first, SIGKILL after the grace. The parent holds the other end of that pipe and never writes to
// it, so the command ends whenever and however the parent does, kill -9 included. A program that
// cannot watch a pipe itself (a JVM) is started through this one.
//
//   node tied.js GRACE_MS COMMAND [ARGUMENT...]
//
// Descriptor 3 receives the command's process id, one line. The exit code is the command's own.

import { spawn } from 'node:child_process';
import { closeSync, writeSync } from 'node:fs';

const [graceText = '', command = '', ...args] = process.argv.slice(2);
const graceMs = Number(graceText);

// A terminal sends these to the whole foreground group. The command gets its own copy; this
// process has to outlive it, and the parent decides what happens next by closing the pipe.
for (const signal of ['SIGINT', 'SIGHUP']) process.on(signal, () => {});
process.on('SIGTERM', end);

const child = spawn(command, args, { stdio: ['ignore', 'inherit', 'inherit'] });
let ending = false;

child.on('error', (error) => {
  writeSync(2, `Cannot run ${command}: ${error.message}\n`);
  process.exit(127);
});
child.on('exit', (code, signal) => {
  process.exit(code ?? (signal === 'SIGKILL' ? 137 : 143));
});
if (child.pid !== undefined) {
  try {
    writeSync(3, `${child.pid}\n`);
    closeSync(3);
  } catch {
    end(); // Nobody is there to read it: the parent has died already.
  }
}

process.stdin.on('end', end);
process.stdin.on('close', end);
process.stdin.on('error', end);
process.stdin.resume();

function end() {
  if (ending) return;
  ending = true;
  child.kill('SIGTERM');
  setTimeout(() => child.kill('SIGKILL'), graceMs);
}
