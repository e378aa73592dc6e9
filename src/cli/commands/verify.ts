import { setTimeout as sleep } from 'node:timers/promises';
import { exitCodes } from '../../base/exit-codes.ts';
import { verify as runVerify, type Verification } from '../../sink/verify.ts';
import type { Command } from '../command.ts';
import type { Io } from '../io.ts';
import { connectionOptions, resolveConfig } from '../load.ts';
import { colorsOf } from '../text/colors.ts';
import { withClickHouse } from '../with-clickhouse.ts';

/** Problems printed before the rest is only counted. */
const MAX_PROBLEMS_PRINTED = 20;

export const verify: Command = {
  name: 'verify',
  summary: 'prove from the ledger that every event was counted exactly once',
  configure(command) {
    connectionOptions(command, ['clickhouse-url', 'database']).addHelpText(
      'after',
      `
Examples:
  tailmark verify
  tailmark verify --json | jq .ok

Checks that the offset ranges of every partition tile without gap or overlap, that
consumed = aggregated + rejected + late + overflow in every chunk, that every chunk has exactly the
rows the ledger says (of the last two days: clickhouse.retention.chunk_rows), that no two groups
count the same offsets, and that the tables hold exactly the samples the ledger says. Names the
partition and the offsets of what is wrong. Can be run at any time, also under load.

Exit codes: 0 all of it holds, 2 something does not.`,
    );
  },
  async run(_args, options, io) {
    const config = await resolveConfig(options, io);
    const verification = await withClickHouse(config, 'verify the ledger', (client) =>
      runVerify(client, {
        retention: config.clickhouse.retention,
        nowMs: () => Date.now(),
        sleep: (ms) => sleep(ms),
      }),
    );
    if (options.json === true) io.out(`${JSON.stringify(verification)}\n`);
    else print(verification, io);
    return verification.ok ? exitCodes.ok : exitCodes.found;
  },
};

function print(verification: Verification, io: Io): void {
  const { green, red, bold } = colorsOf(io);
  for (const { ok, name, detail } of verification.checks) {
    io.out(`${ok ? green('ok  ') : red('FAIL')} ${name}: ${detail}\n`);
  }
  for (const problem of verification.problems.slice(0, MAX_PROBLEMS_PRINTED)) {
    const where = `${problem.topic}/${problem.partition} (group ${problem.group_id})`;
    io.out(`     ${problem.kind} in ${where}: ${problem.detail}\n`);
  }
  const more = verification.problem_count - MAX_PROBLEMS_PRINTED;
  if (more > 0) io.out(`     and ${more} more; --json lists up to 100\n`);
  io.out(bold(verification.ok ? 'exactly once: it holds\n' : 'exactly once: it does NOT hold\n'));
}
