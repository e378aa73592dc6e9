import { Option } from 'commander';
import { readFileTails } from '../../backtest/file-tails.ts';
import { type DimensionName, totalStage } from '../../base/dimensions.ts';
import { type ExitCode, exitCodes } from '../../base/exit-codes.ts';
import type { FacetName } from '../../base/facets.ts';
import { minuteMs } from '../../base/time.ts';
import type { Config } from '../../config/schema.ts';
import { boundPrefix, formatMs } from '../../contract/format.ts';
import { hasPairs } from '../../series/attributes.ts';
import type { Series } from '../../series/series-window.ts';
import {
  type AskedNames,
  findUnknown,
  type UnknownOne,
  unknownText,
} from '../../series/unknown-name.ts';
import { valueText } from '../../series/value-text.ts';
import { readFacets } from '../../sink/read-facets.ts';
import { unknownIn } from '../../sink/read-seen-values.ts';
import {
  percentiles as levels,
  type PercentileName,
  type Resolution,
  readTails,
  resolutionOf,
  resolutions,
  type StageTails,
  type TailsQuery,
} from '../../sink/windows/read-tails.ts';
import { readWindowStates, type WindowStates } from '../../sink/windows/read-window-states.ts';
import { visible } from '../../views/text/format.ts';
import type { Command } from '../command.ts';
import { timeRange } from '../flag-values.ts';
import type { Io, Options } from '../io.ts';
import { clickHouseFlags, loadSettings } from '../load.ts';
import { NamesOfFile } from '../names-of-file.ts';
import { byName, byNames, requireKept, type TailsBy, tailsBy } from '../tails-by.ts';
import { colorsOf } from '../text/colors.ts';
import { facetQuantiles, inShownOrder, renderFacetTails } from '../text/facet-tails.ts';
import { MarkedPercentiles } from '../text/few-requests.ts';
import { renderTable, right } from '../text/table.ts';
import { collected, whereFlag, wherePairs } from '../where.ts';
import { withClickHouse } from '../with-clickhouse.ts';

export const tails: Command = {
  flags: clickHouseFlags,
  help: `
Examples:
  tailmark tails                                   every model, the last 15 minutes
  tailmark tails --model ranker --since 24h --warm
  tailmark tails --stage features --since 8d --until 7d --json
  tailmark tails --by region                       the slowest region of each model first
  tailmark tails --model llm --by input_tokens     by the size of the prompt
  tailmark tails --input events.ndjson.gz          of a file, without any server
  tailmark convert k6.json.gz | tailmark tails --input -

Reads whole windows of 10 s, 1 min, 1 h or 1 day, by the length of the range. In SQL:
sql/queries/tails.sql.

--by takes a dimension, or a facet: a host, a size, a cache hit. It is of whole requests without
--stage. Facets are stored by model and version only: their rows are of all regions and request
types, warm and cold. Sizes go up, names from the slowest on. Percentiles by a facet are within 25 %
(sql/queries/view_facets.sql).

\`at least\`: requests beyond were given up (docs/explained/given-up.md).

The last line counts windows that are final (cannot change), provisional (late events may still be
merged) and open, from the ledger of kafka.group_id: docs/explained/windows.md. In SQL:
sql/queries/window_states.sql. Late merges count; what \`verify\` calls late is a dead letter.

Exit codes: 0 fine, 1 no request has a given name.`,
  configure(command) {
    command
      .option('--since <TIME>', 'start of the range: a duration before now, or RFC 3339', '15m')
      .option('--until <TIME>', 'end of the range', 'now')
      .option('--input <FILE>', 'all timing events of a file instead; - for standard input')
      .option('--model <NAME>', 'only this model')
      .option('--stage <NAME>', 'only this stage; `total` is the whole request')
      .option('--model-version <NAME>', 'only this version')
      .option('--region <NAME>', 'only this region')
      .option('--request-type <NAME>', 'only this request type')
      .addOption(
        new Option('--by <NAME>', 'a row a value of this dimension or facet')
          .choices(byNames)
          .argParser(byName),
      )
      .option(...whereFlag, collected)
      .option('--cold', 'only cold starts')
      .option('--warm', 'no cold starts')
      .addOption(
        new Option('--resolution <W>', 'read windows of this length').choices(resolutions),
      );
  },
  async run(_args, options, io) {
    const { config } = await loadSettings(options, io);
    const by = tailsBy(options, config);
    if (by?.kind === 'dimension') options = { ...options, stage: options.stage ?? totalStage };
    const dimension = by?.kind === 'dimension' ? by.name : undefined;
    if (options.input !== undefined) {
      return printFile(config, text(options.input), options, io, by);
    }
    const range = timeRange(text(options.since), text(options.until), Date.now());
    if (by?.kind === 'facet') return printFacet(config, by.name, range, options, io);
    const chosen = resolutions.find((resolution) => resolution === options.resolution);
    const resolution: Resolution = chosen ?? resolutionOf(range.toMs - range.fromMs);
    const query = { ...range, ...filterOf(options), by: dimension };
    const { rows, states, unknown } = await withClickHouse(
      config,
      io,
      'read tails',
      async (client) => {
        const rows = await readTails(client, query, resolution);
        const states = await readWindowStates(client, config, { ...range, resolution });
        const isEmpty = rows.length === 0;
        return {
          rows,
          states,
          unknown: isEmpty ? await unknownIn(client, namesOf(query)) : undefined,
        };
      },
    );
    requireKept(by, rows);
    if (unknown !== undefined) io.err(`${visible(unknownText(unknown))}\n`);
    if (options.json === true) {
      const from = new Date(range.fromMs).toISOString();
      const to = new Date(range.toMs).toISOString();
      io.out(`${JSON.stringify({ from, to, resolution, tails: rows, windows: states ?? null })}\n`);
    } else if (rows.length === 0) {
      if (unknown === undefined) io.err(nothingText);
    } else {
      io.out(tailsTable(rows, io.color, dimension));
      if (states !== undefined) io.out(colorsOf(io).dim(statesLine(states, resolution)));
    }
    return exitCodeOf(unknown);
  },
};

const nothingText =
  'No requests in this range. Widen --since, or run `tailmark verify` to see what is stored.\n';

/** Prints the tails by a facet, of whole minutes. */
async function printFacet(
  config: Config,
  facet: FacetName,
  { fromMs, toMs }: { readonly fromMs: number; readonly toMs: number },
  options: Options,
  io: Io,
): Promise<ExitCode> {
  const [fromSeconds, toSeconds] = [
    Math.floor(fromMs / minuteMs) * 60,
    Math.ceil(toMs / minuteMs) * 60,
  ];
  const { model, version } = filterOf(options);
  const { values, unknown } = await withClickHouse(config, io, 'read tails', async (client) => {
    const values = await readFacets(client, {
      ...{ model, version, fromSeconds, toSeconds },
      ...{ facets: [facet], levels: facetQuantiles },
    });
    const asked = namesOf(filterOf(options));
    return { values, unknown: values.length === 0 ? await unknownIn(client, asked) : undefined };
  });
  if (unknown !== undefined) io.err(`${visible(unknownText(unknown))}\n`);
  const rows = inShownOrder(values.map(({ bands: _, ...value }) => value));
  if (options.json === true) {
    const [from, to] = [fromSeconds, toSeconds].map((s) => new Date(s * 1000).toISOString());
    io.out(`${JSON.stringify({ from, to, by: facet, tails: rows })}\n`);
  } else if (rows.length === 0 && unknown === undefined) {
    io.err(
      `No request of ${model} in this range has ${facet}. Widen --since, or check what is sent.\n`,
    );
  } else if (rows.length > 0) {
    io.out(renderFacetTails(rows, io.color));
  }
  return exitCodeOf(unknown);
}

type Filter = Omit<TailsQuery, 'fromMs' | 'toMs' | 'by'>;

function filterOf(options: Options): Filter {
  return {
    model: text(options.model),
    stage: text(options.stage),
    version: text(options.modelVersion),
    region: text(options.region),
    requestType: text(options.requestType),
    coldStart: options.cold === true ? 'true' : options.warm === true ? 'false' : '',
    attributePairs: wherePairs(options.where),
  };
}

function namesOf({ requestType, ...names }: Filter): AskedNames {
  return { ...names, request_type: requestType };
}

/** Prints the tails of all events of a file. */
async function printFile(
  config: Config,
  path: string,
  options: Options,
  io: Io,
  by: TailsBy | undefined,
): Promise<ExitCode> {
  const dimension = by?.kind === 'dimension' ? by.name : undefined;
  const filter = filterOf(options);
  const file = { path, stdin: io.stdin };
  const names = new NamesOfFile();
  const isWanted = (series: Series, stage: string) => {
    names.add(series, stage);
    return matches(filter, series, stage);
  };
  const { tails, events, notCounted } = await readFileTails(config, file, isWanted, dimension);
  requireKept(by, tails);
  const unknown =
    tails.length === 0 ? await findUnknown(namesOf(filter), names.valuesOf) : undefined;
  if (unknown !== undefined) io.err(`${visible(unknownText(unknown, 'is in the file'))}\n`);
  if (options.json === true) {
    io.out(`${JSON.stringify({ events, not_counted: notCounted, tails })}\n`);
    return exitCodeOf(unknown);
  }
  if (tails.length === 0) {
    if (unknown === undefined) io.err('No requests of the file match. Leave out a filter.\n');
  } else io.out(tailsTable(tails, io.color, dimension));
  if (notCounted > 0) {
    const count = `${notCounted.toLocaleString('en-US')} of ${events.toLocaleString('en-US')} events`;
    io.err(`${count} not counted: rejected or late\n`);
  }
  return exitCodeOf(unknown);
}

/** A name that no request has is a mistake of who asked, as an unknown id is. */
function exitCodeOf(unknown: UnknownOne | undefined): ExitCode {
  return unknown === undefined ? exitCodes.ok : exitCodes.failed;
}

/** As the query of the tables filters: '' matches any value. */
function matches(filter: Filter, series: Series, stage: string): boolean {
  const isLike = (wanted: string, value: string) => wanted === '' || wanted === value;
  return (
    isLike(filter.stage, stage) &&
    isLike(filter.model, series.model) &&
    isLike(filter.version, series.version) &&
    isLike(filter.region, series.region) &&
    isLike(filter.requestType, series.request_type) &&
    isLike(filter.coldStart, String(series.cold_start)) &&
    hasPairs(series.attributes, filter.attributePairs)
  );
}

/** States how final the windows behind a table of tails are. */
function statesLine(states: WindowStates, resolution: Resolution): string {
  const { open, provisional, final, late_merged } = states;
  const late =
    late_merged === 0
      ? ''
      : `; ${late_merged.toLocaleString('en-US')} late merge${late_merged === 1 ? '' : 's'}`;
  return `windows of ${resolution}: ${final} final, ${provisional} provisional, ${open} open${late}\n`;
}

function tailsTable(
  rows: readonly StageTails[],
  color: boolean,
  by: DimensionName | undefined,
): string {
  const { bold, dim, red } = colorsOf({ color });
  const percentiles = new MarkedPercentiles({ color });
  const names = Object.keys(levels) as PercentileName[];
  const table = renderTable({
    color,
    columns: [
      ...['model', 'stage', ...(by === undefined ? [] : [by])],
      ...right('requests', 'failed', 'p50', 'p90', 'p95', 'p99', 'p99.9', 'max'),
    ],
    rows: rows.map((row, i) => [
      row.model === rows[i - 1]?.model
        ? { text: '', style: dim }
        : { text: row.model, style: bold },
      row.stage,
      ...(by === undefined ? [] : [valueText(row.value ?? '')]),
      row.requests.toLocaleString('en-US'),
      row.failed === 0
        ? { text: '0', style: dim }
        : { text: row.failed.toLocaleString('en-US'), style: red },
      ...names.map((name) => {
        const prefix = boundPrefix(row.at_least.includes(name));
        return percentiles.cell(levels[name], row[name], row.requests, prefix);
      }),
      formatMs(row.max_ms),
    ]),
  });
  return `${table}${percentiles.line()}`;
}

function text(option: unknown): string {
  return typeof option === 'string' ? option : '';
}
