import { systemClock } from '../../base/clock.ts';
import { exitCodes } from '../../base/exit-codes.ts';
import { verify as runVerify, type Verification } from '../../sink/verify.ts';
import type { Command } from '../command.ts';
import type { Io } from '../io.ts';
import { clickHouseFlags, loadSettings } from '../load.ts';
import { colorsOf } from '../text/colors.ts';
import { withClickHouse } from '../with-clickhouse.ts';

/** Most problems printed; the rest is only counted. */
const MAX_PROBLEMS_PRINTED = 20;

export const verify: Command = {
  flags: clickHouseFlags,
  help: `
Examples:
  tailmark verify
  tailmark verify --json | jq .ok

Checks that
  - every table and view that the migrations made is there
  - the offset ranges of every partition have no gap and no overlap
  - consumed = aggregated + rejected + late + overflow + unmapped in every chunk
  - every chunk has the samples recorded in the ledger, within clickhouse.retention.chunk_landings (2 days)
  - no two groups count the same offsets
  - the tables hold the samples recorded in the ledger
and names the partition and offsets of each problem. Safe to run at any time, also under load.

Exit codes: 0 all checks pass, 1 nothing is stored (a new database, or a wrong one), 2 at least one fails.`,
  async run(_args, options, io) {
    const { config } = await loadSettings(options, io);
    const verification = await withClickHouse(config, 'verify the ledger', (client) =>
      runVerify(client, { retention: config.clickhouse.retention, ...systemClock }),
    );
    if (options.json === true) io.out(`${JSON.stringify(verification)}\n`);
    else print(verification, config.clickhouse.database, io);
    if (verification.empty) return exitCodes.failed;
    return verification.ok ? exitCodes.ok : exitCodes.found;
  },
};

function print(verification: Verification, database: string, io: Io): void {
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
  if (verification.empty) io.out(bold(`nothing is stored in ${database}: nothing to verify\n`));
  else io.out(bold(verification.ok ? 'exactly once: verified\n' : 'exactly once: VIOLATED\n'));
}
