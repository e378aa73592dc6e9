// The ClickHouse server of the local stack: the engine that the npm package `chdb` carries, called
// as `clickhouse-local`, whose query opens the HTTP and TCP ports and then reads its standard input
// to the end. The parent holds that pipe, so the server ends whenever and however the parent does.
//
//   node clickhouse.js GRACE_MS PATH_OF_LIBCHDB ARGUMENT...

import { writeSync } from 'node:fs';
import { createRequire } from 'node:module';

const [graceText = '', libraryPath = '', ...engineArgs] = process.argv.slice(2);
const graceMs = Number(graceText);
const parentPid = process.ppid;
const parentPollMs = 250;

// A terminal sends these to the whole foreground group; the parent answers them by closing the pipe.
for (const signal of ['SIGINT', 'SIGHUP']) process.on(signal, () => {});
// SIGTERM may mean this process alone. The engine cannot be told to stop but by its pipe, so after
// the grace it is ended the hard way, which its tables are made to survive.
process.on('SIGTERM', endLater);

// The engine waits for running queries, which may take hours, before it ends.
const watch = setInterval(() => {
  if (process.ppid === parentPid) return;
  clearInterval(watch);
  endLater();
}, parentPollMs);

function endLater() {
  setTimeout(() => process.kill(process.pid, 'SIGKILL'), graceMs);
}

const { DataType, load, open } = createRequire(import.meta.url)('ffi-rs');
const args = ['clickhouse-local', ...engineArgs];
try {
  open({ library: 'chdb', path: libraryPath });
  // In a thread of its own, as the call lasts as long as the server and would hold up the signals.
  await load({
    library: 'chdb',
    funcName: 'chdb_query_cmdline',
    retType: DataType.External,
    paramsType: [DataType.I32, DataType.StringArray],
    paramsValue: [args.length, args],
    runInNewThread: true,
  });
  process.exit(0);
} catch (error) {
  writeSync(2, `Cannot run ClickHouse from ${libraryPath}: ${error}\n`);
  process.exit(1);
}
