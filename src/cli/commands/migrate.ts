import { exitCodes } from '../../base/exit-codes.ts';
import type { MigrationReport } from '../../sink/migrate/migrate.ts';
import type { Command } from '../command.ts';
import { clickHouseFlags, loadSettings } from '../load.ts';
import { waiting } from '../waiting.ts';

export const migrate: Command = {
  flags: clickHouseFlags,
  help: `
Examples:
  tailmark migrate
  tailmark migrate --clickhouse-url http://clickhouse:8123 --json

Needs a user that may create databases and tables. Running it again changes nothing. sql/users.sql
creates the users for the roles.

A table or view that somebody dropped is created again, empty: stop the ingesters first.`,
  async run(_args, options, io) {
    const { config } = await loadSettings(options, io);
    const { migrate: run } = await import('../../sink/migrate/migrate.ts');
    const { clickhouse } = config;
    const report = await waiting(io, { clickhouse, doing: 'migrate the database' }, () =>
      run(clickhouse),
    );
    if (options.json === true) {
      io.out(`${JSON.stringify(report)}\n`);
      return exitCodes.ok;
    }
    for (const object of report.recreated) io.out(`${recreatedLine(object)}\n`);
    for (const name of report.applied) io.out(`applied ${name}\n`);
    if (report.retentionChanged.length > 0) {
      io.out(`set the retention of ${report.retentionChanged.join(', ')}\n`);
    }
    const count = report.applied.length + report.present.length;
    io.out(`database ${report.database} has all ${count} migrations\n`);
    if (report.recreated.length > 0) io.out('`tailmark verify` compares what is stored\n');
    return exitCodes.ok;
  },
};

function recreatedLine({ kind, name, keepsRows }: MigrationReport['recreated'][number]): string {
  if (keepsRows)
    return `recreated ${kind} ${name}: it is EMPTY, its rows are lost unless a backup has them`;
  return kind === 'materialized view'
    ? `recreated ${kind} ${name}: the table that it fills LACKS what was stored without it`
    : `recreated ${kind} ${name}`;
}
