#!/usr/bin/env node
// The command. In a checkout it first installs and builds what is missing, see prepare.js.

import { prepare } from './prepare.js';

// kafkajs sets timers in the past, about which Node 24 warns; the operator can do nothing about it.
process.removeAllListeners('warning');
process.on('warning', ({ name, message }) => {
  if (name !== 'TimeoutNegativeWarning') process.stderr.write(`${name}: ${message}\n`);
});

process.exitCode = prepare();
if (process.exitCode === 0) {
  const { main } = await import('../dist/main.js');
  process.exitCode = await main(process.argv.slice(2));
  // A failed command may leave a socket or timer behind, which must not keep the process alive.
  setTimeout(() => process.exit(), 1_000).unref();
}
