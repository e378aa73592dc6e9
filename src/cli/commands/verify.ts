import { systemClock } from '../../base/clock.ts';
import { exitCodes } from '../../base/exit-codes.ts';
import { removedText } from '../../sink/ledger-problems.ts';
import { REMOVED_CHECK, verify as runVerify, type Verification } from '../../sink/verify.ts';
import type { Command } from '../command.ts';
import type { Io } from '../io.ts';
import { clickHouseFlags, loadSettings } from '../load.ts';
import { colorsOf } from '../text/colors.ts';
import { withClickHouse } from '../with-clickhouse.ts';

/** Most problems printed; the rest is only counted. */
const MAX_PROBLEMS_PRINTED = 20;
const MAX_RANGES_PRINTED = 10;

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
  - no record was removed from Kafka before it was stored, by retention, compaction or deletion
  - every chunk has the samples recorded in the ledger, within clickhouse.retention.chunk_landings (2 days)
  - no two groups count the same offsets
  - the tables hold the samples recorded in the ledger
and names the partition and offsets of each problem. Safe to run at any time, also under load.

Exit codes: 0 all checks pass, 1 nothing is stored (a new database, or a wrong one), 2 at least one fails.`,
  async run(_args, options, io) {
    const { config } = await loadSettings(options, io);
    const verification = await withClickHouse(config, io, 'verify the ledger', (client) =>
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
  const { late_merged, ingesters, empty } = verification;
  if (ingesters === 0 && !empty) {
    io.out('     no ingester runs: records that Kafka removes meanwhile are named once one does\n');
  }
  if (late_merged > 0) {
    const count = `${late_merged.toLocaleString('en-US')} late merge${late_merged === 1 ? '' : 's'}`;
    io.out(`     ${count}: they count, in windows that could be evaluated before they came\n`);
  }
  const more = verification.problem_count - MAX_PROBLEMS_PRINTED;
  if (more > 0) io.out(`     and ${more} more; --json lists up to 100\n`);
  if (empty) io.out(bold(`nothing is stored in ${database}: nothing to verify\n`));
  else io.out(bold(`${verdictOf(verification)}\n`));
}

/** The rows may be exact although Kafka had removed some records before: then it says how many, and where. */
function verdictOf({ ok, checks, problems, removed, deleted_logs }: Verification): string {
  if (ok) return `exactly once: verified${deletedText(deleted_logs)}`;
  if (checks.some((check) => !check.ok && check.name !== REMOVED_CHECK))
    return 'exactly once: VIOLATED';
  const ranges = problems.map(
    ({ topic, partition, from_offset, to_offset }) =>
      `${topic}[${partition}] offsets ${from_offset}..${to_offset - 1}`,
  );
  const unique = [...new Set(ranges)];
  const listed = unique.slice(0, MAX_RANGES_PRINTED).join(', ');
  const more = unique.length > MAX_RANGES_PRINTED ? ' and more' : '';
  return `exactly once, but ${removedText(removed)}: ${listed}${more}`;
}

/** The unknown of a deleted topic: how far it went. Empty without one. */
function deletedText(logs: number): string {
  if (logs === 0) return '';
  const were = logs === 1 ? '1 log was' : `${logs} logs were`;
  return ` for all that was read; ${were} deleted with a topic, and what nobody had read of ${logs === 1 ? 'it' : 'them'} is not known`;
}
